/** A thread of fit:viewpoint: makes pairs and measures them, with what a bundle's backbone says of both frames. */
import { seededRandom } from '../../dist/evaluation/random.js';
import { examine } from '../../dist/viewpoint/examine.js';
import { FITTED } from '../../dist/viewpoint/fitted.js';
import { openLook } from './look.mjs';
import { madePair, openMaterial } from './made-pairs.mjs';
import { serve } from './threads.mjs';

await serve(async ({ folder, bundle }) => {
  const material = openMaterial(folder);
  const look = await openLook(bundle);
  return {
    /** @param {{ index: number, variant: string | null }} item */
    async each({ index, variant }) {
      const random = seededRandom(`fit-viewpoint ${index}`);
      const pair = await madePair(material, variant, random.uniform(0, 1) < 0.5, random);
      const { before, after, ...truth } = pair;
      const evidence = examine(before, after, { ...FITTED, leastInliers: 1 });
      const refused = examine(before, after, { ...FITTED, leastInliers: Number.POSITIVE_INFINITY });
      const [first, second] = [await look.encode(before), await look.encode(after)];
      return {
        ...truth,
        index,
        variant,
        inliers: evidence.registration?.inliers ?? 0,
        corners: evidence.corners,
        measurements: evidence.measurements,
        /** the same, had the inliers been too few */
        measurementsIfRefused: refused.measurements,
        agreement: look.agreement(first, second),
      };
    },
    close: () => look.release(),
  };
});
