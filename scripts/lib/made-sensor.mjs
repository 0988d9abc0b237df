/** Lens, sensor and coder of one camera: equal alterations of both frames, and a small drift between them. */
import { mapPixels } from '../../dist/lab/figures/nuisances.js';
import { blur as blurred, jpeg } from './images.mjs';
import { pick } from './pick.mjs';
import { grain } from './variants.mjs';

/** Share of the drifting pairs whose second frame is softer, as from an enlarged stream or strong compression. */
const SOFTER = 0.3;

/**
 * @param drifts share of the pairs whose frames differ in exposure and coding: another hour, bit rate or stream
 * @returns {{ lens, before, after }} each maps an image to a promise of an image
 */
export function sensorOf(drifts, random) {
  const blur = random.uniform(0, 1) < 0.5 ? random.uniform(0.3, 0.9) : 0;
  const level = random.uniform(0.4, 3.5);
  const quality = random.uniform(60, 94);
  const drawnQuality = () => Math.round(Math.min(95, quality + random.uniform(-4, 4)));
  const coded = (image) => jpeg(grain(image, level, random), drawnQuality());
  return {
    lens: (image) => (blur === 0 ? image : blurred(image, blur)),
    before: coded,
    after: random.uniform(0, 1) < drifts ? drifted(level, random) : coded,
  };
}

function drifted(level, random) {
  const factor = 2 ** (0.15 * random.normal());
  const power = 2 ** (0.08 * random.normal());
  const tints = [0, 1, 2].map(() => 1 + 0.015 * random.normal());
  const soft = random.uniform(0, 1) < SOFTER ? random.uniform(0.4, 1) : 0;
  const noise = level * 2 ** (0.5 * random.normal());
  const quality = Math.round(random.uniform(40, 95));
  const chroma = pick(['4:2:0', '4:4:4'], random);
  return async (image) => {
    const light = mapPixels(image, (value, c) => 255 * (value / 255) ** power * factor * tints[c]);
    const seen = soft === 0 ? light : await blurred(light, soft);
    return jpeg(grain(seen, noise, random), quality, chroma);
  };
}
