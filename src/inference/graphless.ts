/** Operations that need no graph: evidence from the pixels of both frames. */
import { examine } from '../viewpoint/examine.js';
import { measureRegion } from '../viewpoint/lens/measure.js';
import { warpToBefore } from '../viewpoint/warp.js';
import type { Graphless, Operations } from './protocol.js';

type Run<O extends Graphless> = (input: Operations[O]['in']) => Operations[O]['out'];

const RUNS: { readonly [O in Graphless]: Run<O> } = {
  examine: ({ before, after }) => examine(before, after),
  measureRegions: ({ regions, ...frames }) => regions.map(({ side, box }) => measureRegion(frames, side, box)),
  align: ({ before, after, homography, out }) => warpToBefore(before, after, homography, out).valid,
};

/** Runs it to its end on the thread that calls. */
export const runGraphless = <O extends Graphless>(operation: O, input: Operations[O]['in']): Operations[O]['out'] =>
  (RUNS[operation] as Run<O>)(input);
