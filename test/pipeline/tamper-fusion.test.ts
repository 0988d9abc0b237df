import type { Features } from '../../src/model/graph-io.js';
import type { BundleManifest } from '../../src/model/manifest.js';
import { fuseTampers } from '../../src/pipeline/tamper-fusion.js';
import { startExaminer } from '../viewpoint/examiner.js';
import { flat, noisy, street } from '../viewpoint/scenes.js';

/** Four cells of two channels, `other` of which differ from the first frame's. */
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
const turned = examine(before, street('where it looks now'));
const darkened = turned.then(() => examine(before, noisy(flat(4), 1.5, 'dark')));

async function names(examined: typeof turned, other: number, least?: number, camera?: 'moving') {
  const { evidence } = await examined;
  const pair = { before: features(0), after: features(other) };
  return fuseTampers(manifest(least, camera), evidence, pair).map(({ name }) => name);
}

describe('fuseTampers', () => {
  it('believes in a turned camera where the features show another place too', async () => {
    expect(await names(turned, 4, 0.4)).toContain('turned');
  });

  it('takes it for a large change where the features are still of the same place', async () => {
    expect(await names(turned, 0, 0.4)).toEqual([]);
  });

  it('believes in darkness where the features show nothing that was there', async () => {
    expect(await names(darkened, 4, 0.4)).toContain('darkened');
  });

  it('believes only in darkness where the bundle cannot tell places apart', async () => {
    expect(await names(turned, 4)).toEqual([]);
    expect(await names(darkened, 4)).toEqual(['darkened']);
  });

  it('names nothing for a bundle whose camera moves', async () => {
    expect(await names(turned, 4, 0.4, 'moving')).toEqual([]);
    expect(await names(darkened, 4, 0.4, 'moving')).toEqual([]);
  });
});
