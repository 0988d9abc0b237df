/**
 * End to end on the hand-made bundle with the real threads of dist/ (npm test builds it first). What the bundle answers
 * follows from the rules in test/fixtures/make-tiny-bundle.py.
 */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { Value } from 'typebox/value';
import { loadConfig } from '../../src/config.js';
import sharp from '../../src/frames/sharp.js';
import { decodeHeatmapData, encodeHeatmapData } from '../../src/heatmaps/data.js';
import type { Heatmap } from '../../src/images.js';
import type { Logger } from '../../src/logger.js';
import { createPipeline, type PairOutput, type Pipeline } from '../../src/pipeline/compare.js';
import { FindingSchema } from '../../src/schemas/comparison.js';
import { type Block, scene } from '../frames/pictures.js';
import { copyOfTiny, put, TINY } from '../model/tiny-bundle.js';
import { seen, street, withBox } from '../viewpoint/scenes.js';

// Processes and threads start slowly on a machine that is busy with other things; nothing here is about speed.
jest.setTimeout(120_000);

const threadScript = new URL('../../dist/inference/thread.js', import.meta.url);
const error = jest.fn();
const logger = { error, warn: jest.fn(), info: jest.fn() } as unknown as Logger;
const config = {
  ...loadConfig({}),
  defaultModel: 'bundle-tiny',
  device: 'cpu',
  inferenceThreads: 2,
};
const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

/** A models folder with the tiny bundle and one more whose hash is wrong. */
async function modelsFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sd-models-'));
  folders.push(folder);
  await cp(TINY, join(folder, 'bundle-tiny'), { recursive: true });
  await cp(TINY, join(folder, 'torn'), { recursive: true });
  await writeFile(join(folder, 'torn', 'caption.onnx'), 'torn');
  return folder;
}

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await createPipeline({
    config: { ...config, modelsDir: await modelsFolder() },
    logger,
    threadScript,
  });
});
afterAll(() => pipeline?.close());

const [W, H] = [480, 320];
const red: Block = { x: 40, y: 160, width: 80, height: 80, colour: [250, 80, 60] };
const white: Block = { x: 360, y: 80, width: 80, height: 80, colour: [250, 250, 250] };
const picture = (blocks: readonly Block[] = [], level = 50) =>
  scene(W, H, blocks, level).jpeg({ quality: 95, chromaSubsampling: '4:4:4' }).toBuffer();
const compare = async (before: Promise<Buffer>, after: Promise<Buffer>): Promise<PairOutput> => {
  const output = await pipeline.compare({ before: await before, after: await after });
  expect([...Value.Errors(FindingSchema, output.finding)]).toEqual([]);
  return output;
};

/** Where the map is highest, as fractions of the frame. */
function peak(map: Heatmap | undefined): { x: number; y: number; value: number } {
  if (map === undefined) throw new Error('no map');
  const value = Math.max(...map.data);
  const cell = map.data.indexOf(value);
  return {
    x: ((cell % map.width) + 0.5) / map.width,
    y: (Math.floor(cell / map.width) + 0.5) / map.height,
    value,
  };
}
const isInside = ({ x, y }: { x: number; y: number }, block: Block): boolean =>
  x * W > block.x && x * W < block.x + block.width && y * H > block.y && y * H < block.y + block.height;
const highest = (map: Heatmap | undefined) => peak(map).value;

describe('compare', () => {
  it('says what appeared and where, in the pixels of after', async () => {
    const { finding, heatmaps, timings } = await compare(picture(), picture([red]));
    expect(finding).toMatchObject({
      verdict: 'change',
      kind: 'appear',
      severity: 'medium',
      caption: 'a red thing has appeared on the left',
      model: { name: 'bundle-tiny', version: '0.0.1', provider: 'cpu' },
    });
    expect(finding.confidence).toBeGreaterThan(0.9);
    expect(finding.regions.map((region) => region.side)).toEqual(['after']);
    expect(highest(heatmaps?.before)).toBe(0);
    expect(isInside(peak(heatmaps?.after), red)).toBe(true);
    expect(Object.keys(timings).sort()).toEqual(['caption', 'decode', 'encode', 'heatmap', 'register']);
  });

  it('says what disappeared, in the pixels of before', async () => {
    const { finding, heatmaps } = await compare(picture([white]), picture());
    expect(finding).toMatchObject({
      verdict: 'change',
      kind: 'disappear',
      caption: 'the white thing on the right is gone',
    });
    expect(finding.regions.map((region) => region.side)).toEqual(['before']);
    expect(highest(heatmaps?.after)).toBe(0);
    expect(isInside(peak(heatmaps?.before), white)).toBe(true);
  });

  it('tells of a thing that moved in both maps', async () => {
    const moved = { ...white, x: 40 };
    const { finding, heatmaps } = await compare(picture([white]), picture([moved]));
    expect(finding).toMatchObject({ kind: 'move', caption: 'the white thing has moved' });
    expect(isInside(peak(heatmaps?.before), white)).toBe(true);
    expect(isInside(peak(heatmaps?.after), moved)).toBe(true);
  });

  it('gives every word a map: of its own for words that name something, empty for the others', async () => {
    const { finding, heatmaps } = await compare(picture(), picture([red]));
    const maps = Object.fromEntries(finding.words.map((word, i) => [word.text, heatmaps?.words.after[i]]));
    for (const word of ['a', 'has', 'on', 'the']) expect(highest(maps[word])).toBe(0);
    for (const word of ['red', 'thing', 'appeared', 'left']) {
      expect(highest(maps[word])).toBe(1);
      expect(peak(maps[word]).x).toBeLessThan(0.5);
    }
    expect(isInside(peak(maps.red), red)).toBe(true);
  });

  it('gives heatmaps that can be stored', async () => {
    const { heatmaps } = await compare(picture(), picture([red]));
    if (heatmaps === null) throw new Error('no heatmaps');
    expect(decodeHeatmapData(encodeHeatmapData(heatmaps))).toEqual(heatmaps);
  });

  it('stays silent about noise, without asking for words', async () => {
    const { finding, heatmaps, timings } = await compare(picture(), picture([], 51));
    expect(finding).toMatchObject({
      verdict: 'none',
      kind: 'none',
      severity: 'info',
      caption: 'nothing has changed',
      regions: [],
    });
    expect(finding.confidence).toBeLessThan(0.1);
    expect([heatmaps?.words.after.length, highest(heatmaps?.after)]).toEqual([3, 0]);
    expect(Object.keys(timings).sort()).toEqual(['decode', 'encode', 'register']);
  });

  it('names the nuisance where only the light changed', async () => {
    const { finding } = await compare(picture(), picture([], 90));
    expect(finding).toMatchObject({
      verdict: 'nuisance',
      caption: 'only the light has changed',
      regions: [],
    });
    expect(finding.nuisance.map((nuisance) => nuisance.name)).toEqual(['lighting']);
  });

  it('asks no model about the same pixels in other files', async () => {
    const frame = scene(W, H, [red]);
    const output = await pipeline.compare({
      before: await frame.clone().png().toBuffer(),
      after: await frame.clone().webp({ lossless: true }).toBuffer(),
    });
    expect(output.finding).toMatchObject({ verdict: 'none', model: null, confidence: 0 });
    expect(output.heatmaps).toBeNull();
  });

  it('compares frames of other sizes with one aspect ratio', async () => {
    const small = scene(240, 160).png().toBuffer();
    const { finding } = await compare(small, picture([red]));
    expect(finding.caption).toBe('a red thing has appeared on the left');
  });

  it('says where a thing is in frames too tall to be worked on as they are', async () => {
    const [width, height] = [240, 18_000];
    const thing = scene(60, 4_500, [], 250).png().toBuffer();
    const tall = (things: { input: Buffer; left: number; top: number }[]) =>
      sharp({ create: { width, height, channels: 3, background: { r: 50, g: 50, b: 50 } } })
        .composite(things)
        .png()
        .toBuffer();
    const { finding, heatmaps } = await compare(
      tall([]),
      tall([{ input: await thing, left: 180, top: 4_500 }]),
    );
    expect(finding.caption).toBe('a white thing has appeared on the right');
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

  it('gives the same answer when the features come from the cache', async () => {
    const frames = { before: await picture(), after: await picture([red]), beforeKey: 'seen before' };
    const [first, second] = [await pipeline.compare(frames), await pipeline.compare(frames)];
    expect(second.finding).toEqual(first.finding);
  });

  it('does not encode a frame again whose key it knows: other pixels under that key go unseen', async () => {
    const [before, impostor, after] = [await picture(), await picture([white]), await picture([red])];
    await pipeline.compare({ before, after, beforeKey: 'k1' });
    const seen = await pipeline.compare({ before: impostor, after, beforeKey: 'k1' });
    const unseen = await pipeline.compare({ before: impostor, after, beforeKey: 'k2' });
    expect([seen.finding.kind, unseen.finding.kind]).toEqual(['appear', 'move']);
  });

  it('serves many pairs beside each other, each with its own answer', async () => {
    const [empty, left, right] = [await picture(), await picture([red]), await picture([white])];
    const captions = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const output = await pipeline.compare({ before: empty, after: i % 2 === 0 ? left : right });
        return output.finding.caption;
      }),
    );
    expect(captions.filter((_, i) => i % 2 === 0)).toEqual(
      Array(6).fill('a red thing has appeared on the left'),
    );
    expect(captions.filter((_, i) => i % 2 === 1)).toEqual(
      Array(6).fill('a white thing has appeared on the right'),
    );
  });
});

describe('the viewpoint', () => {
  const road = street('a road');
  const png = ({ width, height, data }: typeof road) =>
    sharp(data, { raw: { width, height, channels: 3 } })
      .png()
      .toBuffer();
  const drift = seen(road, { x: 20, y: 8 });

  it('is said in pixels of after', async () => {
    const { finding } = await compare(png(road), png(drift.image));
    expect(finding.viewpoint).toMatchObject({ moved: true, shift_px: expect.closeTo(Math.hypot(20, 8), 0) });
  });

  it('is refused with its reason where nothing tells it, and the model still decides', async () => {
    const { finding } = await compare(picture(), picture([red]));
    expect(finding.viewpoint).toEqual({
      refused: 'before_featureless',
      detail: expect.stringMatching(/^before has \d+ corners, expected at least 16$/),
    });
    expect(finding.verdict).toBe('change');
  });

  it('names a camera that was tampered with, and asks no model what its frame shows', async () => {
    const { modelsDir } = await copyOfTiny(
      (manifest) => put(manifest, 'calibration.least_agreement', 1),
      'bundle-tiny',
    );
    folders.push(modelsDir);
    const believing = await createPipeline({ config: { ...config, modelsDir }, logger, threadScript });
    const frames = { before: await png(road), after: await png(street('where it was turned to')) };
    const { finding, heatmaps } = await believing.compare(frames);
    await believing.close();
    expect(finding).toMatchObject({
      verdict: 'tamper',
      kind: 'none',
      severity: 'high',
      caption: 'the camera has been turned away',
      regions: [],
      model: null,
    });
    expect(finding.tamper?.[0]).toEqual({ name: 'turned', score: finding.confidence });
    expect(heatmaps).toBeNull();
    // The plain bundle cannot contradict, so it is not believed there.
    expect((await pipeline.compare(frames)).finding.verdict).not.toBe('tamper');
  });

  describe('with a rule that aligns', () => {
    let aligning: Pipeline;
    beforeAll(async () => {
      const { modelsDir } = await copyOfTiny((manifest) => put(manifest, 'align_from', 1 / 640));
      folders.push(modelsDir);
      aligning = await createPipeline({ config: { ...config, modelsDir }, logger, threadScript });
    });
    afterAll(() => aligning?.close());

    it('shows the model what the camera would have seen, had it not moved', async () => {
      const frames = { before: await png(road), after: await png(drift.image) };
      const [as, aligned] = [await pipeline.compare(frames), await aligning.compare(frames)];
      expect(as.finding.confidence).toBeGreaterThan(2 * aligned.finding.confidence);
      expect(highest(aligned.heatmaps?.after)).toBeLessThan(highest(as.heatmaps?.after));
    });

    it('answers in full of a strip that is too low to be measured', async () => {
      const strip = { width: 1280, height: 24 };
      const frames = {
        before: await png(street('a strip', strip)),
        after: await png(street('another', strip)),
      };
      for (const asked of [pipeline, aligning]) {
        const { finding } = await asked.compare(frames);
        expect([...Value.Errors(FindingSchema, finding)]).toEqual([]);
      }
    });

    it("finds a thing that came in after's own pixels", async () => {
      const box = { x: 0.6, y: 0.55, width: 0.14, height: 0.2 };
      const after = withBox(drift.image, box, [255, 255, 255]);
      const { finding, heatmaps } = await aligning.compare({
        before: await png(road),
        after: await png(after),
      });
      expect(finding.verdict).toBe('change');
      const { x, y } = peak(heatmaps?.after);
      expect(x).toBeGreaterThan(box.x - 0.03);
      expect(x).toBeLessThan(box.x + box.width + 0.03);
      expect(y).toBeGreaterThan(box.y - 0.03);
      expect(y).toBeLessThan(box.y + box.height + 0.03);
    });

    it('shows where it looked for a word over either frame, apart by the motion', async () => {
      const far = seen(road, { x: 60, y: 30 });
      const box = { x: 0.6, y: 0.55, width: 0.14, height: 0.2 };
      const frames = {
        before: await png(road),
        after: await png(withBox(far.image, box, [255, 255, 255])),
      };
      const { finding, heatmaps } = await aligning.compare(frames);
      const word = finding.words.findIndex((_, i) => highest(heatmaps?.words.before[i]) > 0);
      const [before, after] = [peak(heatmaps?.words.before[word]), peak(heatmaps?.words.after[word])];
      expect(after.x - before.x).toBeCloseTo(60 / road.width, 1);
      expect(after.y - before.y).toBeCloseTo(30 / road.height, 1);
      if (heatmaps === null) throw new Error('no heatmaps');
      expect(decodeHeatmapData(encodeHeatmapData(heatmaps))).toEqual(heatmaps);
    });
  });
});

describe('compare refuses', () => {
  it('another aspect ratio, naming both sizes', async () => {
    const other = scene(400, 320).png().toBuffer();
    await expect(compare(picture(), other)).rejects.toMatchObject({
      code: 'frames-differ-in-shape',
      message: 'before has 480x320 px and after 400x320 px, expected the same aspect ratio (within 2 %)',
    });
  });

  it('a frame that is no picture, naming the side', async () => {
    const text = Promise.resolve(Buffer.from('no picture'));
    await expect(compare(picture(), text)).rejects.toMatchObject({
      code: 'image-unreadable',
      field: 'after',
    });
  });

  it('a model that there is not, naming those there are', async () => {
    const frames = { before: await picture(), after: await picture([red]) };
    for (const model of ['torn', 'no-such']) {
      await expect(pipeline.compare({ ...frames, model })).rejects.toMatchObject({
        code: 'unknown-model',
        field: 'model',
        message: `there is no model "${model}", expected one of bundle-tiny`,
      });
    }
  });

  it('to go on after it was cancelled', async () => {
    const controller = new AbortController();
    const frames = { before: await picture(), after: await picture([red]) };
    const running = pipeline.compare({ ...frames, signal: controller.signal });
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('createPipeline', () => {
  it('describes the bundles it serves and reports the broken one', () => {
    expect(pipeline.models()).toEqual([
      expect.objectContaining({ name: 'bundle-tiny', version: '0.0.1', provider: 'cpu', default: true }),
    ]);
    expect(error).toHaveBeenCalledWith(
      {
        model: 'torn',
        reason: expect.stringMatching(/torn\/caption\.onnx: sha256 is .*, the manifest says/),
      },
      'bundle is broken and not served',
    );
  });

  it.each<[string, string, unknown, RegExp]>([
    ['is named otherwise than its folder', 'name', 'other', /\/name is other, expected bundle-tiny/],
    [
      'has a kind that no answer can carry',
      'kinds.1',
      'explode',
      /\/kinds has explode, expected only none, appear/,
    ],
    [
      'gives other shapes than it says',
      'max_length',
      11,
      /caption\.onnx: output ids came as \[1,10\], expected \[1,11\]/,
    ],
  ])('refuses to start where the default bundle %s', async (_, where, value, message) => {
    const { modelsDir } = await copyOfTiny((manifest) => put(manifest, where, value));
    folders.push(modelsDir);
    const starting = createPipeline({
      config: { ...config, modelsDir, inferenceThreads: 1 },
      logger,
      threadScript,
    });
    await expect(starting).rejects.toThrow(message);
  });

  it('opens another bundle when it is asked for, and says what is wrong with one only then', async () => {
    const modelsDir = await modelsFolder();
    const others: [string, string, unknown][] = [
      ['other', 'unchanged_sentence', 'all is as it was'],
      ['odd', 'max_length', 11],
    ];
    for (const [name, where, value] of others) {
      const { modelsDir: made, directory } = await copyOfTiny((manifest) => {
        put(manifest, 'name', name);
        put(manifest, 'calibration.threshold', 1);
        put(manifest, where, value);
      }, name);
      folders.push(made);
      await cp(directory, join(modelsDir, name), { recursive: true });
    }
    const several = await createPipeline({
      config: { ...config, modelsDir, inferenceThreads: 1 },
      logger,
      threadScript,
    });
    try {
      expect(several.models().map(({ name }) => name)).toEqual(['bundle-tiny', 'odd', 'other']);
      const frames = { before: await picture(), after: await picture([red]) };
      const { finding } = await several.compare({ ...frames, model: 'other' });
      expect(finding).toMatchObject({ caption: 'all is as it was', model: { name: 'other' } });
      await expect(several.compare({ ...frames, model: 'odd' })).rejects.toMatchObject({
        code: 'inference-failed',
        message: expect.stringMatching(/caption\.onnx: output ids came as \[1,10\], expected \[1,11\]/),
      });
      expect((await several.compare(frames)).finding.model?.name).toBe('bundle-tiny');
    } finally {
      await several.close();
    }
  });

  it('refuses to start without the default bundle, naming the file', async () => {
    const modelsDir = await mkdtemp(join(tmpdir(), 'sd-models-'));
    folders.push(modelsDir);
    const starting = createPipeline({ config: { ...config, modelsDir }, logger, threadScript });
    await expect(starting).rejects.toThrow(`${join(modelsDir, 'bundle-tiny', 'manifest.json')}: is missing`);
  });

  it('refuses to start where STRICT_DEVICE cannot be met', async () => {
    const modelsDir = await modelsFolder();
    const starting = createPipeline({
      config: { ...config, modelsDir, device: 'cuda:99', strictDevice: true },
      logger,
      threadScript,
    });
    await expect(starting).rejects.toThrow('DEVICE=cuda:99 with STRICT_DEVICE: cuda:99 is not available');
  });
});
