import { Value } from 'typebox/value';
import sharp from '../../src/frames/sharp.js';
import { decodeHeatmapData, encodeHeatmapData } from '../../src/heatmaps/data.js';
import type { Pipeline } from '../../src/pipeline/compare.js';
import { FindingSchema } from '../../src/schemas/comparison.js';
import { copyOfTiny, put } from '../model/tiny-bundle.js';
import { altered, seen, softened, street, withBox } from '../viewpoint/scenes.js';
import { highest, image, peak, RED, removeLater, startTiny } from './tiny-pipeline.js';

const road = street('a road');
const png = ({ width, height, data }: typeof road) =>
  sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
const drift = seen(road, { x: 20, y: 8 });
const box = { x: 0.6, y: 0.55, width: 0.14, height: 0.2 };
const withThing = ({ image: frame }: typeof drift) => png(withBox(frame, box, [255, 255, 255]));

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startTiny();
});
afterAll(() => pipeline?.close());

describe('the viewpoint of a finding', () => {
  it('states the shift in pixels of after', async () => {
    const { finding } = await pipeline.compare({ before: await png(road), after: await png(drift.image) });
    expect(finding.viewpoint).toMatchObject({ moved: true, shift_px: expect.closeTo(Math.hypot(20, 8), 0) });
  });

  it('states the reason of a refusal; the model still decides', async () => {
    const { finding } = await pipeline.compare({ before: await image(), after: await image([RED]) });
    expect(finding.viewpoint).toEqual({
      refused: 'before_featureless',
      detail: expect.stringMatching(/^before has \d+ corners, expected at least 16$/),
    });
    expect(finding.verdict).toBe('change');
  });
});

describe('a tampered camera', () => {
  it('has the verdict tamper, unless the bundle lacks least_agreement', async () => {
    const { modelsDir } = removeLater(await copyOfTiny((manifest) => put(manifest, 'calibration.least_agreement', 1)));
    const withAgreement = await startTiny({ modelsDir });
    const frames = { before: await png(road), after: await png(street('another view')) };
    const { finding, heatmaps } = await withAgreement.compare(frames);
    await withAgreement.close();
    expect(finding).toMatchObject({
      verdict: 'tamper',
      kind: 'none',
      severity: 'high',
      caption: 'The camera has been turned away.',
      regions: [],
      model: null,
    });
    expect(finding.tamper?.[0]).toEqual({ name: 'turned', score: finding.confidence });
    expect(heatmaps).toBeNull();
    expect((await pipeline.compare(frames)).finding.verdict).not.toBe('tamper');
  });
});

describe('a covered lens', () => {
  const blurred = softened(road, 14);
  const mist = (value: number, around: number) => around + 0.12 * (value - around);
  /** The road behind something that leaves little of its contrast, left of `share` of the width. */
  const covered = (share: number) =>
    altered(road, (value, i) =>
      Math.floor(i / 3) % road.width < share * road.width ? mist(value, blurred.data[i] as number) : value,
    );

  it('over the whole view has the verdict tamper with its reason', async () => {
    const { finding } = await pipeline.compare({ before: await png(road), after: await png(covered(1)) });
    expect(finding).toMatchObject({
      verdict: 'tamper',
      caption: 'Something on the lens covers the view of the camera.',
      tamper: [{ name: 'covered' }],
    });
    expect(finding.lens?.share).toBeGreaterThan(0.9);
  });

  it('over half of the view says which part is not judged, and keeps what has changed in the rest', async () => {
    const came = withBox(covered(0.5), { ...box, x: 0.7 }, [255, 255, 255]);
    for (const [after, verdict] of [
      [covered(0.5), 'nuisance'],
      [came, 'change'],
    ] as const) {
      const { finding } = await pipeline.compare({ before: await png(road), after: await png(after) });
      expect(finding.verdict).toBe(verdict);
      expect(finding.nuisance[0]?.name).toBe('lens');
      expect(finding.lens?.share).toBeGreaterThan(0.4);
      expect(finding.lens?.share).toBeLessThan(0.55);
      const [largest] = finding.lens?.boxes ?? [];
      expect(largest?.x).toBeLessThan(0.1);
      expect(largest?.width).toBeCloseTo(0.5, 1);
      expect(finding.regions.every(({ box: { x } }) => x > 0.6)).toBe(true);
    }
  });
});

describe('with align_from in the manifest', () => {
  let aligning: Pipeline;
  beforeAll(async () => {
    const { modelsDir } = removeLater(await copyOfTiny((manifest) => put(manifest, 'align_from', 1 / 640)));
    aligning = await startTiny({ modelsDir });
  });
  afterAll(() => aligning?.close());

  it('the model compares after in the view of before', async () => {
    const frames = { before: await png(road), after: await png(drift.image) };
    const [unaligned, aligned] = [await pipeline.compare(frames), await aligning.compare(frames)];
    expect(unaligned.finding.confidence).toBeGreaterThan(2 * aligned.finding.confidence);
    expect(highest(aligned.heatmaps?.after)).toBeLessThan(highest(unaligned.heatmaps?.after));
  });

  it('frames that are too low to be registered have a valid finding', async () => {
    const strip = { width: 1280, height: 24 };
    const frames = {
      before: await png(street('a strip', strip)),
      after: await png(street('another', strip)),
    };
    for (const each of [pipeline, aligning]) {
      const { finding } = await each.compare(frames);
      expect([...Value.Errors(FindingSchema, finding)]).toEqual([]);
    }
  });

  it('the heatmap over after shows the thing at its place in the unaligned frame', async () => {
    const { finding, heatmaps } = await aligning.compare({
      before: await png(road),
      after: await withThing(drift),
    });
    expect(finding.verdict).toBe('change');
    const { x, y } = peak(heatmaps?.after);
    expect(x).toBeGreaterThan(box.x - 0.03);
    expect(x).toBeLessThan(box.x + box.width + 0.03);
    expect(y).toBeGreaterThan(box.y - 0.03);
    expect(y).toBeLessThan(box.y + box.height + 0.03);
  });

  it('the heatmaps of a word over either frame differ by the motion of the camera', async () => {
    const far = seen(road, { x: 60, y: 30 });
    const { finding, heatmaps } = await aligning.compare({
      before: await png(road),
      after: await withThing(far),
    });
    const word = finding.words.findIndex((_, i) => highest(heatmaps?.words.before[i]) > 0);
    const [before, after] = [peak(heatmaps?.words.before[word]), peak(heatmaps?.words.after[word])];
    expect(after.x - before.x).toBeCloseTo(60 / road.width, 1);
    expect(after.y - before.y).toBeCloseTo(30 / road.height, 1);
    if (heatmaps === null) throw new Error('no heatmaps');
    expect(decodeHeatmapData(encodeHeatmapData(heatmaps))).toEqual(heatmaps);
  });
});
