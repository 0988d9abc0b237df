/** The pipeline of the service with its graphs in the calling thread: no messages, and one task at a time. */
import { dist } from './service.mjs';

const { Captioner } = await dist('model/captioner.js');
const { resizeNormalised } = await dist('model/preprocess.js');
const { openBundleGraph } = await dist('inference/graph-cache.js');
const { examine } = await dist('viewpoint/examine.js');
const { measureRegion } = await dist('viewpoint/lens/measure.js');
const { warpToBefore } = await dist('viewpoint/warp.js');
const { Pipeline } = await dist('pipeline/compare.js');

/**
 * Decoding, graphs and their inputs are those of the service, because they are chosen by the same code.
 * @param {object} options
 * @param {string} [options.provider] cpu or cuda:N
 * @param {number[] | null} [options.buckets] as Captioner takes them
 * @param {(name: string, graph: object) => object} [options.wrap] replaces an opened graph
 * @param {(frames: object) => object} [options.evidence] replaces the examination of the frames
 * @returns {Promise<InstanceType<typeof Pipeline>>}
 */
export async function barePipeline(
  bundle,
  config,
  { provider = 'cpu', buckets = null, wrap = (_name, graph) => graph, evidence } = {},
) {
  const { manifest } = bundle;
  const names = Object.keys(manifest.graphs);
  const opened = await Promise.all(
    names.map(async (name) => [name, wrap(name, await openBundleGraph(bundle, name, provider, null))]),
  );
  const captioner = new Captioner(bundle, Object.fromEntries(opened), buckets);
  const imagesOf = ({ frame, boxes, width, height }) =>
    boxes.map((box) => {
      const out = new Float32Array(3 * width * height);
      resizeNormalised(frame, box, width, height, manifest.input, out);
      return out;
    });
  const operations = {
    encode: (input) => captioner.encode(imagesOf(input), input.height, input.width),
    difference: async (pair) => (await captioner.difference([pair]))[0],
    caption: (sets) => captioner.caption(sets),
    statements: async (input) => (await captioner.statements([input]))[0],
    name: (crops) => captioner.name(crops),
    people: (input) => captioner.people(imagesOf(input)),
    check: async (input) => (await captioner.check([input]))[0],
    examine: evidence ?? (({ before, after }) => examine(before, after)),
    measureRegions: ({ regions, ...frames }) => regions.map(({ side, box }) => measureRegion(frames, side, box)),
    align: ({ before, after, homography, out }) => warpToBefore(before, after, homography, out).valid,
  };
  let last = Promise.resolve();
  const run = (operation, _bundle, input) => {
    const done = last.then(() => operations[operation](input));
    last = done.catch(() => {});
    return done;
  };
  const pool = { provider, run };
  return new Pipeline({ config: { ...config, featureCacheMb: 0 } }, [bundle], pool);
}
