/** A thread of fit:viewpoint: makes pairs and measures them, and asks a bundle's backbone how far both frames agree where it matters. */
import { seededRandom } from '../../dist/evaluation/random.js';
import { examine } from '../../dist/viewpoint/examine.js';
import { FITTED } from '../../dist/viewpoint/fitted.js';
import { openLook } from './look.mjs';
import { ALIKE, MIXED, madePair, openMaterial } from './made-pairs.mjs';
import { serve } from './threads.mjs';

await serve(async ({ folder, bundle }) => {
  const material = openMaterial(folder);
  const look = await openLook(bundle);
  return {
    /** @param {{ index: number, variant: string | null, alike: boolean }} item alike: for the nuisances, without features */
    async each({ index, variant, alike }) {
      const random = seededRandom(alike ? `fit-viewpoint alike ${index}` : `fit-viewpoint ${index}`);
      const changes = random.uniform(0, 1) < 0.5;
      const pair = await madePair(material, variant, changes, alike ? ALIKE : MIXED, random);
      const { before, after, ...truth } = pair;
      const evidence = examine(before, after, { ...FITTED, leastInliers: 1 });
      const refused = examine(before, after, { ...FITTED, leastInliers: Number.POSITIVE_INFINITY });
      return {
        ...truth,
        index,
        variant,
        alike,
        inliers: evidence.registration?.inliers ?? 0,
        corners: evidence.corners,
        measurements: evidence.measurements,
        /** the same, had the inliers been too few */
        measurementsIfRefused: refused.measurements,
        agreement: alike ? null : look.agreement(await look.encode(before), await look.encode(after)),
      };
    },
    close: () => look.release(),
  };
});
