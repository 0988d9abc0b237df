import type { Features } from '../../src/model/captioner.js';
import type { Manifest } from '../../src/model/manifest.js';
import { believableTampers } from '../../src/workers/believable-tampers.js';

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
  }) as unknown as Manifest;
const named = [
  { name: 'blocked', score: 0.9 },
  { name: 'darkened', score: 0.8 },
  { name: 'turned', score: 0.7 },
] as const;
const names = (least: number | undefined, other: number, camera?: 'moving') =>
  believableTampers(manifest(least, camera), named, { before: features(0), after: features(other) }).map(
    ({ name }) => name,
  );

describe('believableTampers', () => {
  it('believes in a covered or turned camera where most of the frame shows another place', () => {
    expect(names(0.3, 3)).toEqual(['blocked', 'darkened', 'turned']);
  });

  it('takes it for a large change where most of the frame is still the same place', () => {
    expect(names(0.3, 1)).toEqual(['darkened']);
  });

  it('believes only in darkness where the bundle cannot contradict', () => {
    expect(names(undefined, 4)).toEqual(['darkened']);
  });

  it('names nothing for a bundle whose camera moves', () => {
    expect(names(0.3, 4, 'moving')).toEqual([]);
  });
});
