/** Worker thread of bench viewpoint: evidence, tampering and model outputs of one development pair and its variants. */
import { join } from 'node:path';
import { seededRandom } from '../../../dist/base/random.js';
import { fuseTampers } from '../../../dist/pipeline/tamper-fusion.js';
import { examine } from '../../../dist/viewpoint/examine.js';
import { project } from '../../../dist/viewpoint/homography.js';
import { openBundleGraphs, warpedToBefore } from '../../../scripts/lib/bundle-graphs.mjs';
import { turnedHalf, view } from '../../../scripts/lib/camera-view.mjs';
import { jpeg, load, resized } from '../../../scripts/lib/images.mjs';
import { serve } from '../../../scripts/lib/threads.mjs';
import { NUISANCE_VARIANTS, TAMPER_VARIANTS } from '../../../scripts/lib/variants.mjs';

const WIDTH = 640;
const JPEG_QUALITY = 20;
const VARIANTS = {
  'as it is': {},
  ...NUISANCE_VARIANTS,
  jpeg: { nuisance: 'compression', make: (image) => jpeg(image, JPEG_QUALITY) },
  ...TAMPER_VARIANTS,
};

await serve(async ({ data, bundle }) => {
  const graphs = await openBundleGraphs(bundle);
  const read = (file) => load(join(data, file), WIDTH);
  return {
    /** @param {{ pair, stranger: string }} item stranger: file of a frame of another scene */
    async each({ pair, stranger }) {
      const [before, after, elsewhere] = await Promise.all([pair.before, pair.after, stranger].map(read));
      const unmoved = view(before, null).image;
      const ofUnmoved = await graphs.encode(unmoved);
      const entries = [];
      let unaltered = null; // registration of the unaltered pair
      for (const [variant, rule] of Object.entries(VARIANTS)) {
        const random = seededRandom(`bench ${pair.id} ${variant}`);
        let frames;
        let homography = null;
        if (rule.half) {
          frames = turnedHalf(before, random);
        } else {
          const source = rule.other ? await resized(elsewhere, after) : after;
          const moved = view(source, rule.motion ? rule.motion(source, random) : null);
          homography = moved.homography;
          frames = { before: unmoved, after: rule.make ? await rule.make(moved.image, random) : moved.image };
        }
        const evidence = examine(frames.before, frames.after);
        if (variant === 'as it is') unaltered = evidence.registration;
        const features = {
          before: rule.half ? await graphs.encode(frames.before) : ofUnmoved,
          after: await graphs.encode(frames.after),
        };
        entries.push({
          id: pair.id,
          variant,
          nuisance: rule.nuisance,
          tamper: rule.tamper,
          changed: pair.verdict === 'change',
          evidence,
          tampers: fuseTampers(graphs.bundle.manifest, evidence, features).map(({ name }) => name),
          error: rule.motion ? errorOf(evidence.registration, unaltered, homography, frames.before) : null,
          ...(rule.tamper ? {} : await logits(graphs, frames, evidence, features)),
        });
      }
      return entries;
    },
    close: () => graphs.release(),
  };
});

/** Output of the difference graph for the unaligned frames, and with `after` aligned to `before`. */
async function logits(graphs, { before, after }, { registration }, features) {
  const unaligned = await graphs.compare(features.before, features.after);
  if (registration === null || registration.displacement * WIDTH <= 0.5) return { unaligned, aligned: unaligned };
  const aligned = await graphs.encode(warpedToBefore(before, after, registration));
  return { unaligned, aligned: await graphs.compare(features.before, aligned) };
}

/**
 * Errors in pixels, of the frame's centre and of the worst corner. The camera's own motion is removed, as registration
 * measured it on the unaltered pair; null if either registration was refused.
 */
function errorOf(registration, unaltered, made, { width, height }) {
  if (registration === null || unaltered === null) return null;
  const off = (x, y) => {
    const found = project(registration.homography, x, y);
    const real = project(unaltered.homography, x, y);
    const truth = project(made, real.x, real.y);
    return Math.hypot((found.x - truth.x) * width, (found.y - truth.y) * height);
  };
  return { middle: off(0.5, 0.5), corner: Math.max(off(0, 0), off(1, 0), off(0, 1), off(1, 1)) };
}
