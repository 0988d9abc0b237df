/**
 * One frame of a camera's turn: from the queued reference to everything that the turn's commit saves. It writes nothing
 * that a second run would not write alike.
 */
import { heatmapKey } from '../base/blobs.js';
import { ScenedeltaError } from '../base/errors.js';
import { isoTime } from '../base/wall-clock.js';
import { fetchIfStored } from '../camera/baseline/context.js';
import { fitShape, shapeOf } from '../camera/baseline/frame-shape.js';
import { alertMessage } from '../camera/changes/message.js';
import { rulesOf } from '../camera/changes/rules.js';
import { isWatching } from '../camera/changes/schedule.js';
import { levelFrame, NEW_RANGE } from '../camera/fold/level-range.js';
import { type StepDependencies, type StepInput, type StepResult, stepSequence } from '../camera/fold/step.js';
import { maskOf, type StoredCamera } from '../camera/settings/camera.js';
import { healthMessage, saidOf } from '../camera/settings/signal-message.js';
import { type CameraState, initialCameraState } from '../camera/state/state.js';
import { visitMessage } from '../camera/visits/message.js';
import { wantsMessage } from '../endpoints/filter.js';
import { frameSize } from '../frames/header.js';
import { type StoredFrame, storeFrame } from '../frames/keep.js';
import { decodePreview } from '../frames/preview.js';
import { encodeHeatmapData } from '../heatmaps/data.js';
import type { Logger } from '../process/logger.js';
import type { CameraFrame } from '../schemas/camera-frame.js';
import type { Comparison } from '../schemas/comparison.js';
import type { FrameRef, StoredFrameRef } from '../schemas/frame-ref.js';
import { MESSAGE_EVENTS, type Message, type MessageEvent } from '../schemas/message.js';
import type { VectorOfChange } from '../schemas/search-vector.js';
import type { Turn } from '../stores/cameras/turns.js';
import type { StoredMessage } from '../stores/changes/change-writes.js';
import type { ComparisonRequest, ResultStore, StoredComparison } from '../stores/comparisons/results.js';
import type { EndpointStore } from '../stores/delivery/endpoints.js';
import type { Compared } from './life-cycle.js';

export interface CameraFrameDependencies extends StepDependencies {
  readonly results: Pick<ResultStore, 'get'>;
  readonly endpoints: Pick<EndpointStore, 'all'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** The earliest frame of a turn. */
export interface FrameOfTurn {
  readonly turn: Turn;
  readonly stored: StoredComparison;
  readonly signal: AbortSignal;
}

/**
 * Fetches the frame, masked.
 * @throws ScenedeltaError 'frame-out-of-order', and as the fetcher of frames does
 */
export async function fetchFrame(
  { turn, stored: { frames, request }, signal }: FrameOfTurn,
  deps: CameraFrameDependencies,
): Promise<StoredFrame> {
  assertInOrder(stateOf(turn), capturedAt(request));
  const options = { field: 'frame', signal, mask: maskOf(turn.camera) };
  // Only a round may lack it.
  return deps.fetchFrame(frames.after ?? (request.after as FrameRef), options);
}

const LEVELLED = { contentType: 'image/png' };
const FITTED = { contentType: 'image/jpeg' };

/** @param begin called before the frame is examined: a quiet frame ends without */
export async function compareFrame(
  frame: FrameOfTurn,
  fetched: StoredFrame,
  begin: () => Promise<void>,
  deps: CameraFrameDependencies,
): Promise<Compared> {
  const state = stateOf(frame.turn);
  const at = capturedAt(frame.stored.request);
  const earlier = await sameFrame(state, at, fetched.ref.sha256, deps);
  return earlier === null ? compare(frame, fetched, { state, at, begin }, deps) : repeat(earlier, at, deps);
}

const stateOf = ({ state }: Turn): CameraState => state ?? initialCameraState();

/** @returns epoch ms */
const capturedAt = ({ turn, acceptedAt }: ComparisonRequest): number => turn?.capturedAt ?? acceptedAt;

async function compare(
  { turn: { camera, events }, stored: { comparison, request }, signal }: FrameOfTurn,
  fetched: StoredFrame,
  { state, at, begin }: { state: CameraState; at: number; begin: () => Promise<void> },
  deps: CameraFrameDependencies,
): Promise<Compared> {
  const { traceId, traceparent, apiKeyId } = request;
  const trace = { traceId, ...(traceparent === undefined ? {} : { traceparent }) };
  const comparisonId = comparison.id;
  const content = fetched.ref.sha256;
  const levelled = await levelFrame(fetched.bytes, state, deps.decodeLimits);
  const { mask } = fetched.ref;
  const graded =
    levelled === null ? fetched : await storeFrame(deps.blobs, { ...LEVELLED, bytes: levelled.bytes, mask });
  const size = await frameSize(graded.bytes, { ...deps.decodeLimits, field: 'frame' });
  const read = async (ref: StoredFrameRef) => (await fetchIfStored(ref, { signal }, deps))?.bytes ?? null;
  const shape = shapeOf(graded.bytes, size, deps.decodeLimits);
  const fitted = await fitShape(shape, levelled?.state ?? state, { ...deps, read });
  const frame = fitted.bytes === null ? graded : await storeFrame(deps.blobs, { ...FITTED, bytes: fitted.bytes, mask });
  const orders: StepInput['events'] = levelled?.isNewRange ? [...events, NEW_RANGE] : events;
  const preview = () => decodePreview(frame.bytes, { ...deps.decodeLimits, field: 'frame' });
  const examined = async () => {
    await begin();
    return frame;
  };
  const step = {
    camera,
    state: fitted.state,
    notes: fitted.notes,
    at,
    signal,
    events: orders,
    comparisonId,
    content,
    preview,
    frame: examined,
    alerting: true,
  };
  const processed = await stepSequence(step, deps);
  const { heatmaps, changes, suppressed, health, unseen } = processed;
  const url = camera.settings.alerts.callback_url;
  const stored = (message: Message): StoredMessage => ({
    message,
    comparisonId,
    ...trace,
    apiKeyId,
    url: isCalledBack(message) ? url : null,
  });
  const alerts = processed.alerts.map((intent): StoredMessage => {
    const { cooldownKey, suppressedCount } = intent;
    return { ...stored(alertMessage(intent)), ...(cooldownKey && { cooldown: { cooldownKey, suppressedCount } }) };
  });
  const messages = (await messagesOf(processed, camera, at, deps)).map(stored);
  return {
    finding: { ...processed.finding, camera_frame: processed.cameraFrame },
    frames: { before: processed.before, after: frame.ref },
    heatmaps: heatmaps && encodeHeatmapData(heatmaps),
    timings: processed.timings,
    turn: {
      state: processed.state,
      changes: {
        camera: camera.id,
        changes,
        alerts,
        suppressed,
        health: health.map((event) => ({ ...event, ...saidOf(healthMessage(event, at), camera.settings) })),
        unseen,
        visits: processed.visits,
        messages,
        vectors: await vectorsOf(processed, comparisonId, deps),
        eventsApplied: events.length,
      },
    },
  };
}

const AT_ANY_TIME: ReadonlySet<Message['type']> = new Set([
  'camera.signal_back',
  'camera.lens_covered',
  'camera.lens_clear',
]);

const isCalledBack = ({ type }: Message): boolean => MESSAGE_EVENTS[type as MessageEvent].calledBack;

/**
 * The events of visits and of the camera's signal that a receiver asks for, in the times in which the camera may alert.
 * The return of the signal, and what covers the lens, are reported at any time.
 */
async function messagesOf(
  { visits, health }: Pick<StepResult, 'visits' | 'health'>,
  { id, settings }: StoredCamera,
  at: number,
  { endpoints }: Pick<CameraFrameDependencies, 'endpoints'>,
): Promise<Message[]> {
  const all = [
    ...visits.map((event) => visitMessage(event, at)),
    ...health.map((event) => healthMessage(event, at)),
  ].filter((message) => message !== null);
  if (all.length === 0) return [];
  const isOpen = isWatching(at, rulesOf(id, settings, true));
  const receivers = (await endpoints.all()).filter(({ stopped }) => stopped === null);
  return all.filter(
    (message) =>
      (isOpen || AT_ANY_TIME.has(message.type)) &&
      ((isCalledBack(message) && settings.alerts.callback_url !== null) ||
        receivers.some(({ settings: filters }) => wantsMessage(filters, message))),
  );
}

/** The frame counts without the vectors, too: its changes are found by their words alone. */
async function vectorsOf(
  { vectors }: StepResult,
  comparisonId: string,
  { logger }: CameraFrameDependencies,
): Promise<VectorOfChange[]> {
  try {
    return vectors === null ? [] : await vectors();
  } catch (err) {
    logger.warn({ err, comparison_id: comparisonId }, 'no search vectors');
    return [];
  }
}

/** @returns the comparison of the very same frame, if that was the camera's last one. */
async function sameFrame(
  { last }: CameraState,
  at: number,
  sha256: string,
  { results }: CameraFrameDependencies,
): Promise<StoredComparison | null> {
  if (last === null || last.at !== at || last.sha256 !== sha256) return null;
  return (await results.get(last.comparison)) ?? null;
}

/** A frame that was sent twice has the finding of the first time, and changes nothing of the camera. */
async function repeat(
  { comparison, frames }: StoredComparison,
  at: number,
  { blobs }: CameraFrameDependencies,
): Promise<Compared> {
  return {
    finding: {
      ...findingOf(comparison),
      camera_frame: {
        ...sinceOf(comparison),
        captured_at: new Date(at).toISOString(),
        before: comparison.camera_frame?.before ?? null,
        notes: [{ code: 'duplicate', detail: `the same frame as in ${comparison.id}` }],
      },
    },
    frames,
    heatmaps: (comparison.model == null ? undefined : await blobs.get(heatmapKey(comparison.id))) ?? null,
    timings: {},
  };
}

/** A quiet frame has the heatmaps of the comparison that it refers to. */
function sinceOf({ camera_frame }: Comparison): Pick<CameraFrame, 'nothing_new_since'> {
  const since = camera_frame?.nothing_new_since;
  return since === undefined ? {} : { nothing_new_since: since };
}

function assertInOrder({ last }: CameraState, at: number): void {
  if (last === null || at >= last.at) return;
  const [captured, processed] = [at, last.at].map(isoTime);
  throw new ScenedeltaError(
    'frame-out-of-order',
    `the frame was captured at ${captured}, but one of ${processed} has been worked on already: expected frames in the order of their time`,
    { field: 'captured_at' },
  );
}

/** @returns the finding without the bookkeeping of its comparison. */
const findingOf = (comparison: Comparison): Partial<Comparison> => {
  const { id, created_at, finished_at, status, metadata, heatmaps, frames, error, ...found } = comparison;
  return found;
};
