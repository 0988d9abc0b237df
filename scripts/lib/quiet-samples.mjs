/** Worker thread of fit:quiet: makes the frames of one camera, and scores an unchanged and a changed one. */
import { seededRandom } from '../../dist/base/random.js';
import { comparePreviews } from '../../dist/camera/quiet/compare.js';
import { FITTED } from '../../dist/camera/quiet/fitted.js';
import { learnNoise } from '../../dist/camera/quiet/noise.js';
import { decodePreview } from '../../dist/frames/preview.js';
import { openMaterial } from './made-pairs.mjs';
import { changedScene, madeCamera } from './made-stills.mjs';
import { serve } from './threads.mjs';

const LIMITS = { pixelLimit: 50_000_000, field: 'made' };
/** Frames from which the noise of the camera is learned. */
const LEARNED = 6;
/** Changes per camera, and as many unchanged frames. */
const PAIRS = 10;

await serve(async ({ folder, unbounded }) => {
  const material = openMaterial(folder);
  const fitted = unbounded ? { ...FITTED, bound: 1 } : FITTED;
  return {
    /** @param {{ set: string, index: number }} item @returns scores in units of the bound; 1 without one */
    async each({ set, index }) {
      const random = seededRandom(`fit-quiet ${set} ${index}`);
      const camera = await madeCamera(material, random);
      const preview = async (scene) => decodePreview(await camera.frame(scene), LIMITS);
      const examined = await preview(camera.scene);
      let noise = null;
      for (let i = 0; i < LEARNED; i++) {
        noise = learnNoise(noise, comparePreviews(examined, await preview(camera.scene), noise, null, fitted).tiles);
      }
      const scoreOf = async (image) => comparePreviews(examined, await preview(image), noise, null, fitted).score;
      const pairs = [];
      for (let i = 0; i < PAIRS; i++) {
        const { scene, change } = await changedScene(material, camera, random);
        pairs.push({ change, unchanged: await scoreOf(camera.scene), changed: await scoreOf(scene) });
      }
      return pairs.map((pair) => ({ set, index, ...camera.traits, ...pair }));
    },
    close: async () => {},
  };
});
