import { Value } from 'typebox/value';
import sharp from '../../src/frames/sharp.js';
import { decodeHeatmapData, encodeHeatmapData } from '../../src/heatmaps/data.js';
import type { Pipeline } from '../../src/pipeline/compare.js';
import type { PairOutput } from '../../src/pipeline/pair.js';
import { FindingSchema } from '../../src/schemas/comparison.js';
import { type Block, scene } from '../frames/pictures.js';
import { H, highest, image, peak, RED, startTiny, W, WHITE } from './tiny-pipeline.js';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startTiny();
});
afterAll(() => pipeline?.close());

const compare = async (before: Promise<Buffer>, after: Promise<Buffer>, statements = false): Promise<PairOutput> => {
  const output = await pipeline.compare({ before: await before, after: await after, statements });
  expect([...Value.Errors(FindingSchema, output.finding)]).toEqual([]);
  return output;
};
const isInside = ({ x, y }: { x: number; y: number }, block: Block): boolean =>
  x * W > block.x && x * W < block.x + block.width && y * H > block.y && y * H < block.y + block.height;

describe('compare finds', () => {
  it('what appeared, with its region and heatmap over after', async () => {
    const { finding, heatmaps, timings } = await compare(image(), image([RED]));
    expect(finding).toMatchObject({
      verdict: 'change',
      kind: 'appear',
      severity: 'medium',
      caption: 'A red thing has appeared on the left.',
      model: { name: 'bundle-tiny', version: '0.0.1', provider: 'cpu' },
    });
    expect(finding.confidence).toBeGreaterThan(0.9);
    expect(finding.regions.map((region) => region.side)).toEqual(['after']);
    expect(highest(heatmaps?.before)).toBe(0);
    expect(isInside(peak(heatmaps?.after), RED)).toBe(true);
    expect(Object.keys(timings).sort()).toEqual(['caption', 'decode', 'encode', 'heatmap', 'register']);
  });

  it('what disappeared, with its region and heatmap over before', async () => {
    const { finding, heatmaps } = await compare(image([WHITE]), image());
    expect(finding).toMatchObject({
      verdict: 'change',
      kind: 'disappear',
      caption: 'The white thing on the right is gone.',
    });
    expect(finding.regions.map((region) => region.side)).toEqual(['before']);
    expect(highest(heatmaps?.after)).toBe(0);
    expect(isInside(peak(heatmaps?.before), WHITE)).toBe(true);
  });

  it('what moved, in both heatmaps', async () => {
    const moved = { ...WHITE, x: 40 };
    const { finding, heatmaps } = await compare(image([WHITE]), image([moved]));
    expect(finding).toMatchObject({ kind: 'move', caption: 'The white thing has moved.' });
    expect(isInside(peak(heatmaps?.before), WHITE)).toBe(true);
    expect(isInside(peak(heatmaps?.after), moved)).toBe(true);
  });

  it('the nuisance if only the light changed', async () => {
    const { finding } = await compare(image(), image([], 90));
    expect(finding).toMatchObject({
      verdict: 'nuisance',
      caption: 'Only the light has changed.',
      regions: [],
    });
    expect(finding.nuisance.map((nuisance) => nuisance.name)).toEqual(['lighting']);
  });

  it('nothing in noise, and does not run the caption graph', async () => {
    const { finding, heatmaps, timings } = await compare(image(), image([], 51));
    expect(finding).toMatchObject({
      verdict: 'none',
      kind: 'none',
      severity: 'info',
      caption: 'Nothing has changed.',
      regions: [],
    });
    expect(finding.confidence).toBeLessThan(0.1);
    expect([heatmaps?.words.after.length, highest(heatmaps?.after)]).toEqual([3, 0]);
    expect(Object.keys(timings).sort()).toEqual(['decode', 'encode', 'register']);
  });

  it('nothing in equal pixels of different files, without a model', async () => {
    const frame = scene(W, H, [RED]);
    const output = await pipeline.compare({
      before: await frame.clone().png().toBuffer(),
      after: await frame.clone().webp({ lossless: true }).toBuffer(),
    });
    expect(output.finding).toMatchObject({ verdict: 'none', model: null, confidence: 0 });
    expect(output.heatmaps).toBeNull();
  });

  it('a change in frames of different sizes with one aspect ratio, with tight boxes', async () => {
    const small = async (frame: Promise<Buffer>) =>
      sharp(await frame)
        .resize(W / 2)
        .png()
        .toBuffer();
    const pairs = [
      [image(), image([RED])],
      [small(image()), image([RED])],
      [image(), small(image([RED]))],
    ] as const;
    const outputs = await Promise.all(pairs.map(([before, after]) => compare(before, after, true)));
    const edges = outputs.map(({ finding, seen }) => {
      expect(finding.caption).toBe('A red thing has appeared on the left.');
      const { x = 0, y = 0, width = 0, height = 0 } = seen?.[0]?.box ?? {};
      return [x, y, x + width, y + height];
    });
    for (const found of edges.slice(1)) {
      found.forEach((edge, i) => {
        expect(edge).toBeCloseTo(edges[0]?.[i] as number, 1.5);
      });
    }
  });

  it('the location of a thing in frames that are too tall to be processed at full size', async () => {
    const [width, height] = [240, 18_000];
    const thing = scene(60, 4_500, [], 250).png().toBuffer();
    const tall = (things: { input: Buffer; left: number; top: number }[]) =>
      sharp({ create: { width, height, channels: 3, background: { r: 50, g: 50, b: 50 } } })
        .composite(things)
        .png()
        .toBuffer();
    const { finding, heatmaps } = await compare(tall([]), tall([{ input: await thing, left: 180, top: 4_500 }]));
    expect(finding.caption).toBe('A white thing has appeared on the right.');
    const { x, y } = peak(heatmaps?.after);
    expect([x > 0.75, x < 1, y > 0.25, y < 0.5]).toEqual([true, true, true, true]);
    const box = finding.regions[0]?.box;
    for (const [actual, expected] of [
      [box?.x, 0.75],
      [box?.y, 0.25],
      [box?.width, 0.25],
      [box?.height, 0.25],
    ])
      expect(actual).toBeCloseTo(expected as number, 0.5);
  });
});

describe('the heatmaps', () => {
  it('of words that name something are scaled to 1, those of function words are empty', async () => {
    const { finding, heatmaps } = await compare(image(), image([RED]));
    const bare = (text: string) => text.toLowerCase().replace('.', '');
    const maps = Object.fromEntries(finding.words.map(({ text }, i) => [bare(text), heatmaps?.words.after[i]]));
    for (const word of ['a', 'has', 'on', 'the']) expect(highest(maps[word])).toBe(0);
    for (const word of ['red', 'thing', 'appeared', 'left']) {
      expect(highest(maps[word])).toBe(1);
      expect(peak(maps[word]).x).toBeLessThan(0.5);
    }
    expect(isInside(peak(maps.red), RED)).toBe(true);
  });

  it('can be stored and read again', async () => {
    const { heatmaps } = await compare(image(), image([RED]));
    if (heatmaps === null) throw new Error('no heatmaps');
    expect(decodeHeatmapData(encodeHeatmapData(heatmaps))).toEqual(heatmaps);
  });
});

describe('the feature cache', () => {
  it('gives the same finding as a run of the graphs', async () => {
    const frames = { before: await image(), after: await image([RED]), beforeKey: 'cached before' };
    const [first, second] = [await pipeline.compare(frames), await pipeline.compare(frames)];
    expect(second.finding).toEqual(first.finding);
  });

  it('is read by key: other pixels under a known key are not encoded', async () => {
    const [before, impostor, after] = [await image(), await image([WHITE]), await image([RED])];
    await pipeline.compare({ before, after, beforeKey: 'k1' });
    const hit = await pipeline.compare({ before: impostor, after, beforeKey: 'k1' });
    const miss = await pipeline.compare({ before: impostor, after, beforeKey: 'k2' });
    expect([hit.finding.kind, miss.finding.kind]).toEqual(['appear', 'move']);
  });
});

it('compares many pairs concurrently, each with its own finding', async () => {
  const [empty, left, right] = [await image(), await image([RED]), await image([WHITE])];
  const captions = await Promise.all(
    Array.from({ length: 12 }, async (_, i) => {
      const output = await pipeline.compare({ before: empty, after: i % 2 === 0 ? left : right });
      return output.finding.caption;
    }),
  );
  const [onTheLeft, onTheRight] = [0, 1].map((odd) => captions.filter((_, i) => i % 2 === odd));
  expect(onTheLeft).toEqual(Array(6).fill('A red thing has appeared on the left.'));
  expect(onTheRight).toEqual(Array(6).fill('A white thing has appeared on the right.'));
});

it('one view in two shapes is compared after stretching, with boxes in fractions of each frame', async () => {
  // Grey blocks give the view corners.
  const corners = Array.from({ length: 40 }, (_, i) => ({
    ...{ x: (i * 67) % (W - 30), y: (i * 41) % (H - 30), width: 24, height: 24 },
    colour: [90, 90, 90] as const,
  }));
  const yard = (things: Block[]) =>
    scene(W, H, [...corners, ...things])
      .png()
      .toBuffer();
  const stretched = async (things: Block[]) =>
    sharp(await yard(things))
      .resize(W / 2, H, { fit: 'fill' })
      .png()
      .toBuffer();
  const { finding } = await compare(yard([]), stretched([RED]));
  expect(finding).toMatchObject({ verdict: 'change', kind: 'appear' });
  const box = finding.regions[0]?.box;
  expect(isInside({ x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 }, RED)).toBe(
    true,
  );
  expect((await compare(yard([]), stretched([]))).finding.verdict).not.toBe('change');
});

describe('compare refuses', () => {
  it('another aspect ratio, with both sizes', async () => {
    const other = scene(400, 320).png().toBuffer();
    await expect(compare(image(), other)).rejects.toMatchObject({
      code: 'frames-differ-in-shape',
      message:
        'before has 480x320 px and after 400x320 px, ' +
        'expected the same aspect ratio (within 2 %), or one view that was stretched',
    });
  });

  it('a frame that is no image, with the side', async () => {
    const text = Promise.resolve(Buffer.from('no image'));
    await expect(compare(image(), text)).rejects.toMatchObject({
      code: 'image-unreadable',
      field: 'after',
    });
  });

  it('an unknown model, with the names of the served ones', async () => {
    const frames = { before: await image(), after: await image([RED]) };
    for (const model of ['torn', 'no-such']) {
      await expect(pipeline.compare({ ...frames, model })).rejects.toMatchObject({
        code: 'unknown-model',
        field: 'model',
        message: `there is no model "${model}", expected one of bundle-tiny`,
      });
    }
  });

  it('to start a step after the signal was aborted', async () => {
    const controller = new AbortController();
    const frames = { before: await image(), after: await image([RED]) };
    const running = pipeline.compare({ ...frames, signal: controller.signal });
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
  });
});
