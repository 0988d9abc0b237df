import type { Features } from '../../src/model/graph-io.js';
import type { BundleManifest } from '../../src/model/manifest.js';
import { fuseTampers } from '../../src/pipeline/tamper-fusion.js';
import { startExaminer } from '../viewpoint/examiner.js';
import { flat, noisy, street } from '../viewpoint/scenes.js';

/** Four cells of two channels. @param other number of cells that differ from those of features(0) */
const features = (other: number): Features => ({
  coarse: Float32Array.from({ length: 8 }, (_, i) => Number(i < 4 ? i >= other : i - 4 < other)),
  fine: new Float32Array(0),
});
const manifest = (least?: number, camera?: 'moving') =>
  ({
    camera,
    input: { width: 32, height: 32 },
    calibration: least === undefined ? {} : { least_agreement: least },
  }) as unknown as BundleManifest;

const { examine, close } = startExaminer();
afterAll(close);
const before = noisy(street('a street'), 1.5, 'sensor');
const turned = examine(before, street('another view'));
const darkened = turned.then(() => examine(before, noisy(flat(4), 1.5, 'dark')));

async function names(examined: typeof turned, other: number, least?: number, camera?: 'moving', ofCamera = false) {
  const { evidence } = await examined;
  const pair = { before: features(0), after: features(other) };
  return fuseTampers(manifest(least, camera), evidence, pair, ofCamera).map(({ name }) => name);
}

describe('fuseTampers', () => {
  it('names a turned camera if the features differ too', async () => {
    expect(await names(turned, 4, 0.4)).toContain('turned');
  });

  it("names a foreign picture, without the features, if the frame is a camera's", async () => {
    expect(await names(turned, 0, undefined, undefined, true)).toEqual(['foreign_picture']);
    expect(await names(darkened, 4, 0.4, undefined, true)).toContain('darkened');
    expect(await names(turned, 4, 0.4, 'moving', true)).toEqual([]);
  });

  it('names nothing if the features agree: it is a large change', async () => {
    expect(await names(turned, 0, 0.4)).toEqual([]);
  });

  it('names darkness if the features differ too', async () => {
    expect(await names(darkened, 4, 0.4)).toContain('darkened');
  });

  it('names only darkness if the bundle has no least_agreement', async () => {
    expect(await names(turned, 4)).toEqual([]);
    expect(await names(darkened, 4)).toEqual(['darkened']);
  });

  it('names nothing for a bundle of a moving camera', async () => {
    expect(await names(turned, 4, 0.4, 'moving')).toEqual([]);
    expect(await names(darkened, 4, 0.4, 'moving')).toEqual([]);
  });
});
