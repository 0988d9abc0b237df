/** Features and difference graphs of a bundle on one thread of this process, for fits and benches. */
import { join } from 'node:path';
import { agreement } from '../../dist/model/agreement.js';
import { COARSE_STRIDE } from '../../dist/model/bundle.js';
import { Captioner } from '../../dist/model/captioner.js';
import { loadBundle } from '../../dist/model/manifest.js';
import { fullFrame, resizeNormalised } from '../../dist/model/preprocess.js';
import { openGraph } from '../../dist/model/session.js';
import { warpToBefore } from '../../dist/viewpoint/warp.js';

/** @param {string} folder of the bundle */
export async function openBundleGraphs(folder) {
  const bundle = await loadBundle(folder);
  const { manifest } = bundle;
  const graph = (name) => openGraph(join(folder, manifest.graphs[name].file), 'cpu');
  const captioner = new Captioner(
    bundle,
    {
      features: await graph('features'),
      difference: await graph('difference'),
      caption: await graph('caption'),
    },
    null,
  );
  const { width, height } = manifest.input;
  const encode = async (image) => {
    const out = new Float32Array(3 * width * height);
    resizeNormalised(image, fullFrame(image), width, height, manifest.input, out);
    return (await captioner.encode([out], height, width))[0];
  };
  return {
    bundle,
    encode,
    /** Agreement of the features of two frames, -1..1 (src/model/agreement.ts). */
    agreement: (before, after) => agreement(before, after, (width * height) / COARSE_STRIDE ** 2),
    /** @returns the logits of difference.onnx for the features of two frames, without maps and decoder memory */
    async compare(before, after) {
      const [{ changeLogit, kindLogits, nuisanceLogits }] = await captioner.difference([{ before, after }]);
      return { changeLogit, kindLogits, nuisanceLogits };
    },
    release: () => captioner.release(),
  };
}

/** `after` in the view of `before`. */
export const warpedToBefore = (before, after, registration) =>
  warpToBefore(before, after, registration.homography, new Uint8Array(before.data.length)).image;
