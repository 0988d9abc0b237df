import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { frameKey, heatmapKey } from '../../src/base/blobs.js';
import { decodeHeatmapData } from '../../src/heatmaps/data.js';
import { codes, EMPTY, runsOn, WITH_CAR, WITH_DOG } from '../helpers/camera-runs.js';
import { GREEN, picture, pixelPipeline, RED, setUpCamera, turnProcessor } from '../helpers/cameras.js';
import { contentOf } from '../helpers/content.js';
import { type Bench, setUpBench } from '../helpers/workers.js';

let bench: Bench;
beforeAll(async () => {
  bench = await setUpBench();
});
beforeEach(() => bench.redis.flushall());
afterAll(() => bench.stop());
const run = runsOn(() => bench);

describe('zones', () => {
  const left = [
    [0, 0],
    [0.4, 0],
    [0.4, 1],
    [0, 1],
  ];
  it('of type ignore exclude the differences in them, with a note', async () => {
    const zones = [{ id: 'street', type: 'ignore', polygon: left }];
    const camera = await setUpCamera(bench, 'gate', { zones, alerts: { confirm_frames: 1 } });
    const [, dog, , car] = await run(camera, [
      [EMPTY, 0],
      [WITH_DOG, 1],
      [EMPTY, 2],
      [WITH_CAR, 3],
    ]);
    expect(dog).toMatchObject({ verdict: 'none', regions: [], caption: 'Nothing that counts has changed.' });
    expect(codes(dog)).toEqual(['regions_left_out']);
    expect(car).toMatchObject({ verdict: 'change' });
    expect((await bench.changes.list({ camera: 'gate', limit: 10 })).items).toHaveLength(1);
  });

  it('of type ignore exclude the clauses about things in them, with their heatmaps', async () => {
    const map = (value: number) => ({ width: 2, height: 1, data: new Float32Array(2).fill(value) });
    const caption = 'A dog has appeared, and a car has appeared.';
    const region = (id: number, x: number, score: number) => ({
      ...{ id, side: 'after' as const, area: 0.01, score },
      box: { x, y: 0.5, width: 0.1, height: 0.1 },
    });
    const states = (text: string, id: number) => ({ text, kind: 'appear' as const, score: 0.9, regions: [id] });
    const { pipeline } = pixelPipeline();
    const maps = caption.split(' ').map((_word, i) => map(i / 10));
    const describing: typeof pipeline = {
      ...pipeline,
      async compare(input) {
        const { finding } = await pipeline.compare(input);
        return {
          finding: {
            ...finding,
            caption,
            content: contentOf(caption),
            words: caption.split(' ').map((text) => ({ text, score: 0.9 })),
            regions: [region(1, 0.1, 0.9), region(2, 0.7, 0.8)],
            statements: [states('A dog has appeared.', 1), states('A car has appeared.', 2)],
          },
          heatmaps: { before: map(0), after: map(1), words: { before: maps, after: maps } },
          timings: {},
        };
      },
    };
    const zones = [{ id: 'street', type: 'ignore', polygon: left }];
    const camera = await setUpCamera(bench, 'gate', { zones, alerts: { confirm_frames: 1 } });
    const frames = [
      [EMPTY, 0],
      [WITH_CAR, 1],
    ] as const;
    const [, car] = await run(camera, frames, turnProcessor(bench, { pipeline: describing }));
    expect(car).toMatchObject({ verdict: 'change', kind: 'appear', caption: 'A car has appeared.' });
    const { items } = await bench.changes.list({ camera: 'gate', limit: 10 });
    expect(items).toMatchObject([{ kind: 'appear', caption: 'A car has appeared.' }]);
    const { words } = decodeHeatmapData((await bench.blobs.get(heatmapKey(car?.id ?? ''))) ?? new Uint8Array());
    // The heatmaps of the words "a car has appeared", the sixth to the ninth.
    expect(words.after.map(({ data }) => data[0]?.toFixed(1))).toEqual(['0.5', '0.6', '0.7', '0.8']);
  });

  it('of type include give their name and severity', async () => {
    const zones = [{ id: 'yard', name: 'Yard B', type: 'include', polygon: left, severity: 'high' }];
    const camera = await setUpCamera(bench, 'gate', { before: 'previous', zones, alerts: { confirm_frames: 1 } });
    const [, dog, car] = await run(camera, [
      [EMPTY, 0],
      [WITH_DOG, 1],
      [
        picture({
          things: [
            [10, 40, 8, 8, GREEN],
            [60, 30, 12, 10, RED],
          ],
        }),
        2,
      ],
    ]);
    expect(dog).toMatchObject({ verdict: 'change', severity: 'high', regions: [{ id: 1, zone: 'yard' }] });
    expect(car).toMatchObject({ verdict: 'none' });
    const { items } = await bench.changes.list({ camera: 'gate', limit: 10 });
    expect(items).toMatchObject([{ zone: 'yard', severity: 'high', caption: 'Something has appeared in Yard B.' }]);
  });
});

describe('privacy zones', () => {
  const window = [
    [0.5, 0],
    [1, 0],
    [1, 0.5],
    [0.5, 0.5],
  ];
  const settings = {
    zones: [{ id: 'window', type: 'privacy', polygon: window }],
    alerts: { confirm_frames: 1 },
  };
  /** A dog in the yard, and a person at the window. */
  const seen = (who: number) =>
    picture({
      things: [
        [10, 40, 8, 8, GREEN],
        [52, 4, 30, 20, [who, 255 - who, who]],
      ],
    });

  it('make answer and images independent, byte for byte, of the pixels behind them', async () => {
    const answers: unknown[] = [];
    for (const who of [30, 200]) {
      await bench.redis.flushall();
      const camera = await setUpCamera(bench, 'gate', settings, { mask: 'msk_window' });
      const { pipeline, calls } = pixelPipeline();
      const empty = picture({ things: [[52, 4, 30, 20, [255 - who, who, 9]]] });
      const comparisons = await run(
        camera,
        [
          [empty, 0],
          [seen(who), 1],
        ],
        turnProcessor(bench, { pipeline }),
      );
      const stored = await Promise.all(comparisons.map(({ id }) => bench.results.get(id)));
      const bytes = stored.map((one) => bench.blobs.get(frameKey(one?.frames.after?.sha256 ?? '')));
      answers.push({
        comparisons: comparisons.map(({ id, created_at, finished_at, timings_ms, ...rest }) => rest),
        frames: stored.map((one) => one?.frames),
        pictures: await Promise.all(bytes),
        lookedAt: calls.map(({ before, after }) => [before, after]),
      });
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject({
      comparisons: [{ verdict: 'none' }, { verdict: 'change', kind: 'appear' }],
    });
  });

  it('that are new are painted on the next frames, which are not compared with earlier ones', async () => {
    const camera = await setUpCamera(bench, 'gate', { ...settings, before: 'previous', zones: [] });
    await run(camera, [[seen(30), 0]]);
    const masked = await setUpCamera(bench, 'gate', { ...settings, before: 'previous' }, { mask: 'msk_window' });
    const [anew, next] = await run(masked, [
      [seen(60), 1],
      [seen(90), 2],
    ]);
    expect(codes(anew)).toEqual(['mask_changed']);
    expect(next).toMatchObject({ verdict: 'none' });
    expect(codes(next)).toEqual([]);
    const frames = (await bench.results.get(anew?.id ?? ''))?.frames;
    expect(frames?.after).toMatchObject({ contentType: 'image/jpeg', mask: 'msk_window' });
  });

  it('are painted in mode memory as well', async () => {
    const camera = await setUpCamera(bench, 'gate', { ...settings, before: 'memory' }, { mask: 'msk_a' });
    await run(camera, [
      [seen(30), 0],
      [seen(60), 10],
    ]);
    const moved = await setUpCamera(bench, 'gate', { ...settings, before: 'memory' }, { mask: 'msk_b' });
    const [anew] = await run(moved, [[seen(30), 20]]);
    expect(codes(anew)).toEqual(['mask_changed', 'first_frame']);
  });
});
