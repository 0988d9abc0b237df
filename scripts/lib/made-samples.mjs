/** Worker thread of fit:viewpoint: makes one pair, measures it, and compares the features of both frames. */
import { seededRandom } from '../../dist/base/random.js';
import { isBare, showsTooLittle } from '../../dist/viewpoint/evidence.js';
import { examine } from '../../dist/viewpoint/examine.js';
import { FITTED } from '../../dist/viewpoint/fitted.js';
import { MEASUREMENTS } from '../../dist/viewpoint/measurements.js';
import { openBundleGraphs } from './bundle-graphs.mjs';
import { ALIKE, MIXED, madePair, openMaterial } from './made-pairs.mjs';
import { serve } from './threads.mjs';
import { grain } from './variants.mjs';

const SEEDS = { mixed: 'fit-viewpoint', alike: 'fit-viewpoint alike', noise: 'noise only' };
const inOrder = (measurements) => Object.fromEntries(MEASUREMENTS.map((name) => [name, measurements[name]]));
/** Registration with any number of agreeing corners: the fit chooses how many are required. */
const anyMotion = (before, after) => examine(before, after, { ...FITTED, leastInliers: 1 });

await serve(async ({ folder, bundle }) => {
  const material = openMaterial(folder);
  const graphs = await openBundleGraphs(bundle);
  const { least_agreement } = graphs.bundle.manifest.calibration;
  return {
    /** @param {{ set: 'mixed' | 'alike' | 'noise', index: number, variant: string | null }} item */
    async each({ set, index, variant }) {
      const random = seededRandom(`${SEEDS[set]} ${index}`);
      if (set === 'noise') {
        const { registration } = anyMotion(...noisePair(random));
        return { set, index, inliers: registration?.inliers ?? 0 };
      }
      const changes = random.uniform(0, 1) < 0.5;
      const shares = set === 'alike' ? ALIKE : MIXED;
      const { before, after, place, nuisance, tamper } = await madePair(material, variant, changes, shares, random);
      const evidence = anyMotion(before, after);
      const refused = examine(before, after, { ...FITTED, leastInliers: Number.POSITIVE_INFINITY });
      return {
        ...{ set, index, variant, place, nuisance, tamper },
        inliers: evidence.registration?.inliers ?? 0,
        judgeable: !showsTooLittle(evidence),
        measurements: inOrder(evidence.measurements),
        bare: isBare(evidence.measurements),
        measurements_if_refused: inOrder(refused.measurements),
        bare_if_refused: isBare(refused.measurements),
        // Features matter only to tampering, and alike pairs have none.
        margin:
          set === 'alike'
            ? null
            : graphs.agreement(await graphs.encode(before), await graphs.encode(after)) - least_agreement,
      };
    },
    close: () => graphs.release(),
  };
});

/** Two frames of independent noise on one grey. */
function noisePair(random) {
  const size = { width: 544, height: 408 };
  const grey = { ...size, data: new Uint8Array(544 * 408 * 3).fill(random.uniform(20, 230)) };
  return [0, 1].map(() => grain(grey, random.uniform(5, 60), random));
}
