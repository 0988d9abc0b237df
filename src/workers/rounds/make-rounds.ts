/**
 * Rounds of cameras: when a time of a round has passed, an ordinary comparison of the camera's pictures nearest to its
 * two times. Its id follows from camera, round and day, so that a second run finds it.
 */
import type { BlobStore } from '../../base/blobs.js';
import { frameKey } from '../../base/blobs.js';
import { ScenedeltaError } from '../../base/errors.js';
import { newTraceId, roundIdOf } from '../../base/ids.js';
import { isoTime } from '../../base/wall-clock.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import {
  isTooDark,
  latestRound,
  MOST_TRIES,
  type Round,
  type RoundTimes,
  WIDEST_MS,
  whatWasThere,
} from '../../camera/settings/rounds.js';
import { type DecodeLimits, decodeFrame } from '../../frames/decode.js';
import type { JobProducer } from '../../jobs/producer.js';
import type { Logger } from '../../process/logger.js';
import type { Comparison } from '../../schemas/comparison.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import type { CameraStore } from '../../stores/cameras/cameras.js';
import type { ResultStore, StoredComparison } from '../../stores/comparisons/results.js';
import type { LifeCycle } from '../life-cycle.js';

const MINUTE_MS = 60_000;
/** A picture this near to the time is taken at once; a camera with rare pictures gets the wider window. */
const NEAR_MS = 2 * MINUTE_MS;
/** Time within which the service has answered a frame, and frames that come late have come. */
const LATE_MS = MINUTE_MS;
/** Age up to which a round is made up for after the workers were away. */
const OLDEST_MS = 12 * 60 * MINUTE_MS;
const PAGE_SIZE = 500;
/** In place of the id of an API key, because no request asked for it. */
const ROUND = 'round';

interface RoundDependencies {
  readonly cameras: Pick<CameraStore, 'all'>;
  readonly results: Pick<ResultStore, 'list' | 'get' | 'create' | 'update'>;
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly queue: Pick<JobProducer, 'addComparison'>;
  readonly lifeCycle: Pick<LifeCycle, 'giveUp'>;
  readonly decodeLimits: DecodeLimits;
  /** epoch ms */
  readonly clock: () => number;
  readonly logger: Logger;
}

type Picture = { readonly ref: StoredFrameRef; readonly at: number };
/** A usable picture, or what there was in its place. */
type Search = { readonly picture: Picture } | { readonly missing: string };

/** @returns a function that makes the comparisons that are due, and returns how many */
export function createRounds(deps: RoundDependencies): () => Promise<number> {
  const { results, clock } = deps;

  const near = async (camera: string, at: number, width: number): Promise<Comparison[]> => {
    const found: Comparison[] = [];
    const [since, until] = [at - width, at + width + LATE_MS];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await results.list({ camera, since, until, limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) });
      found.push(...page.items.filter((one) => Math.abs(capturedAt(one) - at) <= width));
      cursor = page.nextCursor;
    }
    return found.sort((a, b) => Math.abs(capturedAt(a) - at) - Math.abs(capturedAt(b) - at));
  };

  /** @returns why the picture of a comparison is of no use; the picture if it is */
  const examine = async (comparison: Comparison): Promise<Picture | string> => {
    if (showsNoScene(comparison)) return 'damaged, tampered or of another camera';
    const ref = (await results.get(comparison.id))?.frames.after ?? null;
    const bytes = ref === null ? undefined : await deps.blobs.get(frameKey(ref.sha256));
    if (ref === null || bytes === undefined) return 'no longer stored';
    const pixels = await decodeFrame(bytes, { ...deps.decodeLimits, field: 'after' });
    return isTooDark(pixels) ? 'too dark' : { ref, at: capturedAt(comparison) };
  };

  const search = async (camera: string, at: number, width: number, tz: string): Promise<Search> => {
    const candidates = await near(camera, at, width);
    const refused: string[] = [];
    for (const candidate of candidates.slice(0, MOST_TRIES)) {
      const found = await examine(candidate);
      if (typeof found !== 'string') return { picture: found };
      refused.push(found);
    }
    return { missing: whatWasThere(refused, candidates.length, width, at, tz) };
  };

  /** @returns whether its comparison was made; a round without near pictures waits for the wider window */
  const make = async (camera: StoredCamera, round: Round, times: RoundTimes): Promise<boolean> => {
    const widths = clock() >= times.at + WIDEST_MS + LATE_MS ? [NEAR_MS, WIDEST_MS] : [NEAR_MS];
    const nearest = async (at: number, most: readonly number[]): Promise<Search> => {
      let found: Search = { missing: '' };
      for (const width of most) {
        found = await search(camera.id, at, width, round.tz);
        if ('picture' in found) break;
      }
      return found;
    };
    const after = await nearest(times.at, widths);
    if ('missing' in after && widths.length === 1) return false;
    const before = await nearest(times.with, [NEAR_MS, WIDEST_MS]);
    const record = recordOf(camera, round, times, { before, after, now: clock() });
    const { id } = record.comparison;
    await results.create(record);
    const missing = [before, after].flatMap((found) => ('missing' in found ? [found.missing] : []));
    if (missing.length === 0) {
      await deps.queue.addComparison({ comparisonId: id, traceId: record.request.traceId });
    } else {
      const error = new ScenedeltaError('gone', `round ${JSON.stringify(round.name)}: ${missing.join('; ')}`);
      await deps.lifeCycle.giveUp(record, error, ({ comparison }) => results.update(id, { comparison }));
    }
    deps.logger.info({ camera_id: camera.id, comparison_id: id, round: round.name, missing }, 'round');
    return true;
  };

  return async () => {
    let made = 0;
    for await (const camera of deps.cameras.all()) {
      for (const round of camera.settings.rounds) {
        const times = latestRound(round, clock() - NEAR_MS - LATE_MS);
        if (times === null || clock() - times.at > OLDEST_MS) continue;
        if ((await results.get(roundIdOf(camera.id, round, times))) !== undefined) continue;
        if (await make(camera, round, times)) made++;
      }
    }
    return made;
  };
}

/** @returns epoch ms; NaN of a comparison that is no frame of its camera */
const capturedAt = ({ camera_frame: frame }: Comparison): number => Date.parse(frame?.captured_at ?? '');

const showsNoScene = ({ status, verdict, lost, camera_frame: frame }: Comparison): boolean =>
  status !== 'finished' ||
  verdict === 'tamper' ||
  lost?.side === 'after' ||
  frame?.notes.some(({ code }) => code === 'size_changed') === true;

function recordOf(
  { id: camera, settings }: StoredCamera,
  round: Round,
  times: RoundTimes,
  { before, after, now }: { before: Search; after: Search; now: number },
): StoredComparison {
  const pictureOf = (search: Search) => ('picture' in search ? search.picture : null);
  const [earlier, later] = [pictureOf(before), pictureOf(after)];
  const captured = { before: earlier && isoTime(earlier.at), after: later && isoTime(later.at) };
  const { name, at, with: other, tz } = round;
  return {
    comparison: {
      id: roundIdOf(camera, round, times),
      camera,
      status: 'queued',
      created_at: isoTime(now),
      finished_at: null,
      metadata: { round: { name, at, with: other, tz, captured_at: captured } },
    },
    frames: { before: earlier?.ref ?? null, after: later?.ref ?? null },
    request: {
      traceId: newTraceId(),
      before: earlier?.ref ?? null,
      after: later?.ref ?? null,
      round: true,
      model: settings.model,
      ...(settings.truth === null ? {} : { truth: settings.truth }),
      acceptedAt: now,
      deadline: null,
      callbackUrl: settings.alerts.callback_url,
      apiKeyId: ROUND,
      owner: ROUND,
    },
  };
}
