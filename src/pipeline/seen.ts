/** State of one comparison, and what its frames show before a sentence is made. */
import type { HeldBuffers } from '../frames/decoded-frames.js';
import type { Finding, Viewpoint } from '../schemas/comparison.js';
import type { Lost } from '../schemas/loss.js';
import type { ViewpointEvidence } from '../viewpoint/evidence.js';
import type { Wanted } from './describe.js';
import type { AlignedPair, PairInput } from './pair.js';
import type { Stopwatch } from './stopwatch.js';

export interface Comparison extends Stopwatch, Wanted {
  readonly input: PairInput;
  /** pixel buffers to be given back at the end */
  readonly buffers: HeldBuffers;
}

/** A pair with its evidence, or a finding that needs no model: identical frames, a tampered view. */
export type Seen =
  | { readonly finding: Finding }
  | {
      readonly pair: AlignedPair;
      readonly evidence: ViewpointEvidence;
      readonly viewpoint: Viewpoint;
      readonly lost: Lost | null;
    };
