/** Inputs and outputs of a bundle's graphs as plain data, one item each. Letters as in captioner.ts. */
import type { Box, Heatmap, Side } from '../base/images.js';

/** Feature grids of one image: coarse [Cc,H/16,W/16], fine [Cf,H/8,W/8]. */
export interface Features {
  readonly coarse: Float32Array;
  readonly fine: Float32Array;
}

/** Features of a pair: both of full frames, or both of one region crop. */
export interface FeaturePair {
  readonly before: Features;
  readonly after: Features;
}

/** The part of a pair that the graphs of captions read as a whole. */
export interface PairMemory {
  /** [N,D] */
  readonly memory: Float32Array;
  /** [K], in the order of the manifest's `kinds` */
  readonly kindLogits: Float32Array;
}

export interface Difference extends PairMemory {
  readonly changeLogit: number;
  /** of the pair with its frames exchanged; absent of a graph that does not compute it */
  readonly exchanged?: PairMemory;
  /** [Q], in the order of the manifest's `nuisances` */
  readonly nuisanceLogits: Float32Array;
  /** change map [h,w] over `before`: things that are gone, moved or replaced in `after` */
  readonly before: Heatmap;
  /** change map [h,w] over `after`: things that are new there */
  readonly after: Heatmap;
}

/** Features of one region crop in both frames; boxes are fractions of the frame. */
export interface RegionCropFeatures extends FeaturePair {
  readonly crop: Box;
  readonly object: Box;
}

/** Logits of the names of what a crop shows in one frame, in the order of the manifest's `names`. */
export interface CropNames {
  /** [nouns] */
  readonly nouns: Float32Array;
  /** [colours] */
  readonly colours: Float32Array;
}
export type PairNames = Readonly<Record<Side, CropNames>>;

export interface CaptionInput extends PairMemory {
  /** at most R are read; a bundle without region crops reads none */
  readonly crops: readonly RegionCropFeatures[];
}

/** Rows about one pair, for both directions of time. */
export interface StatementsInput {
  readonly given: PairMemory;
  /** of the pair with its frames exchanged */
  readonly exchanged: PairMemory;
  /** at least one */
  readonly crops: readonly RegionCropFeatures[];
  /** a row each: at most R indices of `crops` */
  readonly sets: readonly (readonly number[])[];
  /** per set, the number of clauses after which its row ends, with the "and" before the next; 0: no words */
  readonly clauses?: readonly number[];
}

/** Outputs of the other graphs for a pair, which the graphs `check` and `pair` read. */
export interface PairEvidence extends CaptionInput, Pick<Difference, 'before' | 'after'> {}

export interface CaptionOutput {
  /** [T] words, then the end id, then pads */
  readonly ids: BigInt64Array;
  /** [T] natural logarithms */
  readonly logProbabilities: Float32Array;
  /** number of words */
  readonly length: number;
  /** [length, N + R * g * g]: row t is the attention of word t */
  readonly attention: readonly Float32Array[];
  /**
   * [K], in the order of the manifest's `kinds`: joint logits of the full frame and the region crops, on which the
   * words are conditioned; null if the caption graph does not output them
   */
  readonly kindLogits: Float32Array | null;
}

export interface CheckInput extends PairEvidence {
  /** words of each sentence, at least one sentence */
  readonly sentences: readonly (readonly string[])[];
}

/** Per sentence; `check` of the manifest says how these become probabilities. */
export interface CheckOutput {
  readonly score: number;
  /** in the order of SLOTS; of a slot that the sentence does not state, the value has no meaning */
  readonly slots: Float32Array;
}
