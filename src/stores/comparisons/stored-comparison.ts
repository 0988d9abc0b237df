/** The record of a comparison: the public resource, its frames, and the request for it. */
import type { ComparisonRecord } from '../../schemas/comparison.js';
import type { FrameRef, StoredFrameRef } from '../../schemas/frame-ref.js';

/** A comparison with what is kept beside the public resource. */
export interface StoredComparison {
  readonly comparison: ComparisonRecord;
  /** set as soon as the frames' bytes are in the blob store */
  readonly frames: {
    readonly before: StoredFrameRef | null;
    readonly after: StoredFrameRef | null;
    /** how long the fetch took if a worker fetched them before the comparison waited for its slot */
    readonly fetchMs?: number;
  };
  readonly request: ComparisonRequest;
}

/** The request for a comparison. It is written once, at acceptance, in the hash field `job`. */
export interface ComparisonRequest {
  readonly traceId: string;
  /** W3C trace context of the request, or of its span; absent: the request had none, and there are no traces */
  readonly traceparent?: string;
  /** null: a camera's frame, which is compared with what its turn chooses as "before" */
  readonly before: FrameRef | null;
  readonly after: FrameRef;
  /** a pair that names a camera which exists: judged by the camera's settings, with statements */
  readonly byCamera?: true;
  /**
   * only of a camera's frame, which is processed in the camera's turn and has no job of its own; capturedAt in epoch ms
   */
  readonly turn?: { readonly camera: string; readonly capturedAt: number };
  /** null: the default bundle */
  readonly model: string | null;
  /** share of the things said that must be true; absent: the setting TRUTH */
  readonly truth?: number;
  /** from `before` to `after`; absent: not known */
  readonly secondsApart?: number;
  /** epoch ms */
  readonly acceptedAt: number;
  /** epoch ms; null: none */
  readonly deadline: number | null;
  readonly callbackUrl: string | null;
  /** the key that this counts against */
  readonly apiKeyId: string;
  /** owner of that key */
  readonly owner: string;
}

/** Whether the end of a comparison has receivers: its callback, or the endpoints that ask for pairs of cameras. */
export const isDelivered = ({ callbackUrl, byCamera }: Pick<ComparisonRequest, 'callbackUrl' | 'byCamera'>): boolean =>
  callbackUrl !== null || byCamera === true;

/** @param fields the hash fields `comparison`, `frames` and `job`; null: absent @returns undefined if one is absent */
export function parseRecord([comparison, frames, request]: readonly (string | null)[]): StoredComparison | undefined {
  if (comparison == null || frames == null || request == null) return undefined;
  return { comparison: JSON.parse(comparison), frames: JSON.parse(frames), request: JSON.parse(request) };
}
