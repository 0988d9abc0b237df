/** What the main thread and the inference threads say to each other. Pictures cross in shared memory, features by transfer. */
import type { RgbImage } from '../images.js';
import type { CaptionInput, CaptionOutput, Difference, FeaturePair, Features } from '../model/graph-io.js';
import type { Bundle } from '../model/manifest.js';
import type { PixelBox } from '../model/preprocess.js';
import type { Provider } from '../model/session.js';
import type { ViewpointEvidence } from '../viewpoint/examine.js';
import type { Homography } from '../viewpoint/homography.js';

export interface EncodeInput {
  /** pixels in a SharedArrayBuffer, which stay untouched until the answer comes */
  readonly frame: RgbImage;
  /** each is resized to width x height */
  readonly boxes: readonly PixelBox[];
  readonly width: number;
  readonly height: number;
}

/** Pixels of both frames in SharedArrayBuffers, which stay untouched until the answer comes. */
export interface FramePair {
  readonly before: RgbImage;
  readonly after: RgbImage;
}

export interface AlignInput extends FramePair {
  /** of a Registration */
  readonly homography: Homography;
  /** in a SharedArrayBuffer: receives `after` as the camera of `before` would have seen it; as long as before's pixels */
  readonly out: Uint8Array;
}

/** The three graphs as operations, and what needs no graph; one input in, one output out; a request carries several of one operation. */
export interface Operations {
  encode: { in: EncodeInput; out: Features[] };
  difference: { in: FeaturePair; out: Difference };
  caption: { in: CaptionInput; out: CaptionOutput };
  examine: { in: FramePair; out: ViewpointEvidence };
  /** out: the share of before's view that `after` shows */
  align: { in: AlignInput; out: number };
}
export type Operation = keyof Operations;

/** workerData of a thread. */
export interface ThreadOptions {
  readonly bundles: readonly Bundle[];
  /** DEVICE and STRICT_DEVICE */
  readonly device: string;
  readonly strictDevice: boolean;
  readonly batchSize: number;
  /** see graph-cache.ts */
  readonly graphCache: string | null;
}

export interface ThreadRequest {
  readonly type: 'run';
  readonly operation: Operation;
  readonly bundle: string;
  readonly inputs: readonly Operations[Operation]['in'][];
}
export type ToThread = ThreadRequest | { readonly type: 'close' };

export interface ThreadReady {
  readonly type: 'ready';
  readonly provider: Provider;
  /** why the CPU serves although CUDA was asked for; null where it is what was asked */
  readonly fallback: string | null;
  /** bundles that did not open, by name, with the reason */
  readonly refused: Readonly<Record<string, string>>;
}
export type FromThread =
  | ThreadReady
  /** the thread cannot serve at all */
  | { readonly type: 'unfit'; readonly reason: string }
  | { readonly type: 'done'; readonly outputs: readonly Operations[Operation]['out'][] }
  | { readonly type: 'failed'; readonly reason: string };
