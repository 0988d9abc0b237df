import { loadBundle } from '../../src/model/manifest.js';
import { tunedManifest } from '../../src/tuning/tuned-manifest.js';

const source = await loadBundle('test/fixtures/bundle-tiny');
const names = {
  nouns: ['nothing', 'car', 'van', 'bus'],
  wider: {},
  colours: ['red', 'blue'],
  plural: {},
};
const record = { tuned_at: '2026-06-01T00:00:00Z' } as unknown as Parameters<typeof tunedManifest>[3];

it('multiplies the weights of names with those of a source that was tuned before', () => {
  const bundle = {
    ...source,
    manifest: {
      ...source.manifest,
      names: { ...names, prior: { nouns: { car: 0.5, bus: 3 }, colours: { red: 2 } } },
    },
  };
  const priors = { nouns: { car: 0.5, van: 2 }, colours: {} };
  expect(tunedManifest(bundle, 'mine', { priors }, record).names?.prior).toEqual({
    nouns: { car: 0.25, bus: 3, van: 2 },
    colours: { red: 2 },
  });
  const first = tunedManifest({ ...bundle, manifest: { ...bundle.manifest, names } }, 'mine', { priors }, record);
  expect(first.names?.prior).toEqual(priors);
  expect(tunedManifest(bundle, 'mine', {}, record).names).toEqual(bundle.manifest.names);
});
