/** Pairs of frames: input and output of `Pipeline.compare`, and the pair between its steps. */
import type { Side } from '../base/images.js';
import type { DecodedFrame } from '../frames/decode.js';
import type { HeatmapData } from '../heatmaps/data.js';
import type { Difference, FeaturePair } from '../model/graph-io.js';
import type { Finding, TimingsMs, Viewpoint } from '../schemas/comparison.js';
import type { Lost } from '../schemas/loss.js';
import type { SeenThing } from '../schemas/seen-thing.js';
import type { ViewpointEvidence } from '../viewpoint/evidence.js';
import type { ChangedPlace } from './crops-about.js';
import type { PairRows } from './judge-evidence.js';
import type { SourceFrameMapping } from './word-heatmaps.js';

export interface PairInput {
  /** encoded bytes: JPEG, PNG, WebP, AVIF, TIFF or GIF */
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  /** sha256 of the bytes in hexadecimal; computed if the caller does not know it */
  readonly beforeKey?: string;
  readonly afterKey?: string;
  /** `after` as decodeFrame returns it, if the caller has decoded it already; null or absent = it has not */
  readonly afterDecoded?: DecodedFrame | null;
  /** name of a bundle; null or absent = the default one */
  readonly model?: string | null;
  /** id of the camera that both frames are of; null or absent = any two pictures */
  readonly camera?: string | null;
  /** probability from which the verdict is a change, 0..1; null or absent = that of the bundle */
  readonly threshold?: number | null;
  /** share of the things said that must be true, 0..1; null or absent = the setting TRUTH */
  readonly truth?: number | null;
  /** time from `before` to `after`; null or absent = it is not known */
  readonly secondsApart?: number | null;
  /** also a statement per location, at the cost of a run of the caption graph for each if there are several */
  readonly statements?: boolean;
  /** is read between steps; a step that runs is not interrupted */
  readonly signal?: AbortSignal;
}

export interface PairOutput {
  readonly finding: Finding;
  /** null if no model ran or its result does not count: identical frames, or a tampered camera */
  readonly heatmaps: HeatmapData | null;
  /**
   * only the steps that ran: decode; register (evidence, alignment, and which regions lie in the scene); encode
   * (features and difference); caption (words); heatmap
   */
  readonly timings: Partial<TimingsMs>;
  /**
   * Absent without a change, and of a bundle without the graph `pair`.
   * @param places of one of the changes; absent: all of them
   * @returns their search vector
   */
  readonly embed?: (places?: readonly ChangedPlace[]) => Promise<Float32Array>;
  /** of both frames, if `statements` were asked for and the frames have changed regions */
  readonly seen?: readonly SeenThing[];
  /** Absent without a changed region, and of a bundle that names nothing */
  readonly evidence?: () => PairRows;
}

/** Search vectors of texts. */
export interface EmbeddedTexts {
  /** sha256 of the bundle */
  readonly bundle: string;
  /** cosine of a text and a change below which the change is no answer */
  readonly least: number;
  readonly vectors: readonly Float32Array[];
}

/** The part of the pipeline that jobs and sequences use. */
export interface Comparer {
  /** @throws ScenedeltaError as Pipeline.compare does */
  compare(input: PairInput): Promise<PairOutput>;
}

export type FramePair = Readonly<Record<Side, DecodedFrame>>;

/** The pair as the caption graph reads it: `after` in the view of `before`. */
export interface AlignedPair {
  readonly frames: FramePair;
  readonly difference: Difference;
  /** of the full frames, the input of `difference` */
  readonly features: FeaturePair;
  readonly toSourceFrame: SourceFrameMapping;
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
