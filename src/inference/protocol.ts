/** Messages between the main thread and the inference threads. Frames and arrays of results are in shared memory. */
import type { RgbImage } from '../base/images.js';
import type {
  CaptionInput,
  CaptionOutput,
  CheckInput,
  CheckOutput,
  Difference,
  FeaturePair,
  Features,
  PairEvidence,
  PairNames,
  RegionCropFeatures,
  StatementsInput,
} from '../model/graph-io.js';
import type { Bundle } from '../model/manifest.js';
import type { DetectedPerson } from '../model/people.js';
import type { PixelBox } from '../model/preprocess.js';
import type { MapRegion } from '../model/regions.js';
import type { Provider } from '../model/session.js';
import type { ViewpointEvidence } from '../viewpoint/evidence.js';
import type { Homography } from '../viewpoint/homography.js';
import type { LensMeasurements } from '../viewpoint/lens/measure.js';

export interface EncodeInput {
  /** pixels in a SharedArrayBuffer that must not change until the answer comes */
  readonly frame: RgbImage;
  /** boxes of the frame in pixels; each is resized to width x height */
  readonly boxes: readonly PixelBox[];
  readonly width: number;
  readonly height: number;
  /** the resized boxes, if another thread resized them */
  readonly images?: readonly Float32Array[];
}

/** Pixels of both frames in SharedArrayBuffers that must not change until the answer comes. */
interface FramePair {
  readonly before: RgbImage;
  readonly after: RgbImage;
}

interface AlignInput extends FramePair {
  /** from `before` to `after`, of a Registration */
  readonly homography: Homography;
  /** receives `after` in the view of `before`; in a SharedArrayBuffer, as long as the pixels of `before` */
  readonly out: Uint8Array;
}

/**
 * Input and output per operation: the graphs, and three that need no graph. A request carries several inputs of
 * one.
 */
export interface Operations {
  /** of the boxes, in shared memory, each for an image of a graph */
  resize: { in: EncodeInput; out: Float32Array[] };
  encode: { in: EncodeInput; out: Features[] };
  difference: { in: FeaturePair; out: Difference };
  /** one run for several sets of crops */
  caption: { in: readonly CaptionInput[]; out: CaptionOutput[] };
  /** of one pair, in both directions of time */
  statements: { in: StatementsInput; out: CaptionOutput[] };
  /** of crops of one pair */
  name: { in: readonly RegionCropFeatures[]; out: PairNames[] };
  /** of crops of one frame */
  people: { in: EncodeInput; out: DetectedPerson[][] };
  check: { in: CheckInput; out: CheckOutput[] };
  /** search vectors */
  embedPair: { in: PairEvidence; out: Float32Array };
  embedTexts: { in: readonly string[]; out: Float32Array[] };
  examine: { in: FramePair; out: ViewpointEvidence };
  /** of each region, in the view of `before` */
  measureRegions: { in: FramePair & { readonly regions: readonly MapRegion[] }; out: LensMeasurements[] };
  /** out: the share of the view of `before` that `after` covers, 0..1 */
  align: { in: AlignInput; out: number };
}
export type Operation = keyof Operations;

/** Operations that need no graph (graphless.ts). */
export type Graphless = 'examine' | 'measureRegions' | 'align';
export const isGraphless = (operation: Operation): operation is Graphless =>
  operation === 'examine' || operation === 'measureRegions' || operation === 'align';

/** The tasks that a thread runs: all, or with a GPU those of the GPU, or the rest. */
export type Role = 'all' | 'gpu' | 'beside-gpu';

/**
 * The graphs that a GPU runs. `large`: those that it runs faster at one pair per run. `all`: those of many small nodes,
 * too, which take as long for one pair as for several (ADR 13).
 */
export type GpuGraphs = 'large' | 'all';

const LARGE: readonly Operation[] = ['encode', 'difference', 'people'];
const ON_GPU: Readonly<Record<GpuGraphs, ReadonlySet<Operation>>> = {
  large: new Set(LARGE),
  all: new Set([...LARGE, 'statements', 'name', 'check']),
};

/** @returns the role of a thread on its provider: a thread that cannot use the GPU runs all */
export const roleOn = (provider: Provider, role: Role): Role => (role === 'gpu' && provider === 'cpu' ? 'all' : role);

export const serves = (role: Role, graphs: GpuGraphs, operation: Operation): boolean =>
  role === 'all' || ON_GPU[graphs].has(operation) === (role === 'gpu');

/** Plain data that a thread receives before it opens its graphs. */
export interface ThreadOptions {
  readonly bundles: readonly Bundle[];
  readonly role: Role;
  /** the setting GPU_GRAPHS */
  readonly gpuGraphs: GpuGraphs;
  /** the settings DEVICE and STRICT_DEVICE */
  readonly device: string;
  readonly strictDevice: boolean;
  /** largest batch on a GPU */
  readonly batchSize: number;
  /** folder of graph-cache.ts; null = optimised graphs are not kept */
  readonly graphCache: string | null;
  /**
   * Whether a thread runs everything once before it is ready. A command that compares few pairs is done sooner without:
   * each graph is then opened at its first run.
   */
  readonly warmUp: boolean;
}

export interface ThreadRequest {
  readonly type: 'run';
  readonly operation: Operation;
  readonly bundle: string;
  readonly inputs: readonly Operations[Operation]['in'][];
}
/** The first message opens the graphs, or closes a thread that is not needed. */
export type ToThread =
  | ThreadRequest
  | { readonly type: 'open'; readonly options: ThreadOptions }
  | { readonly type: 'close' };

export interface ThreadReady {
  readonly type: 'ready';
  readonly provider: Provider;
  /** reason why the CPU serves although CUDA was asked for, or null */
  readonly fallback: string | null;
  /** reason per bundle that did not open */
  readonly refused: Readonly<Record<string, string>>;
}
export type FromThread =
  | ThreadReady
  /** the thread cannot serve any bundle */
  | { readonly type: 'unfit'; readonly reason: string }
  | { readonly type: 'done'; readonly outputs: readonly Operations[Operation]['out'][] }
  | { readonly type: 'failed'; readonly reason: string };
