/** Overviews of cameras: state in a word and a sentence, and the last frame; and the order and search of a list. */
import { invalidValue } from '../../base/errors.js';
import { isoTime } from '../../base/wall-clock.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import { type HealthState, stateOf } from '../../camera/settings/health.js';
import type { Locale } from '../../language/locales.js';
import { DEFAULT_LOCALE, textIn, translated } from '../../language/translate.js';
import type { Comparison } from '../../schemas/comparison.js';
import type { CameraRecord } from '../../stores/cameras/cameras.js';
import type { ResultStore } from '../../stores/comparisons/results.js';
import type { CameraOverview } from '../schemas/camera-answers.js';

type Results = Pick<ResultStore, 'many'>;
type Kept = Omit<CameraRecord, 'camera'>;
/** States that have a text; in the others, the last comparison says it. */
const STATES_WITH_TEXT: ReadonlySet<HealthState> = new Set(['no_frame_yet', 'no_frames', 'stuck', 'moved']);

/** @param now epoch ms. @param locale of the sentences. @returns the overview of each camera */
export async function overviewsOf(
  cameras: readonly Kept[],
  results: Results,
  now: number,
  locale: Locale = DEFAULT_LOCALE,
): Promise<CameraOverview[]> {
  const ids = cameras.flatMap(({ state }) => state?.last?.comparison ?? []);
  const found = new Map((await results.many(ids)).map((one) => [one?.id, one]));
  return cameras.map((camera) => overviewOf(camera, found.get(camera.state?.last?.comparison), now, locale));
}

function overviewOf(
  { state: kept, snapshot, failure }: Kept,
  comparison: Comparison | undefined,
  now: number,
  locale: Locale,
): CameraOverview {
  const last = kept?.last ?? null;
  const { viewpoint, tamper } = comparison ?? {};
  const hasMoved = viewpoint !== undefined && 'moved' in viewpoint && viewpoint.moved;
  const state = stateOf(
    {
      lastFrameAt: last?.at ?? null,
      intervalMs: kept?.intervalMs ?? null,
      tamper: tamper?.[0]?.name ?? (hasMoved ? 'turned' : null),
      frozen: kept?.still?.stuck === true,
      lost: kept?.signal?.reported === true,
      covered: kept?.lens?.reported === true,
    },
    now,
  );
  return {
    state,
    detail:
      state === 'covered' && tamper === undefined
        ? textIn(locale, 'state.covered', { n: Math.round(100 * (kept?.lens?.share ?? 0)) })
        : sentenceOf(state, comparison && translated(comparison, locale), reasonsOf(snapshot, failure), locale),
    last_frame_at: last === null ? null : isoTime(last.at),
    frozen_since: state === 'stuck' && kept?.still !== undefined ? isoTime(kept.still.since) : null,
    lens: lensOf(kept),
    comparison: comparison?.id ?? null,
    last_failure: failure ?? null,
  };
}

/** @returns what covers a part of the view, as long as it has been reported; null: nothing */
export const lensOf = (state: Kept['state']): CameraOverview['lens'] =>
  state?.lens?.reported === true ? { since: isoTime(state.lens.since), share: state.lens.share } : null;

function sentenceOf(
  state: HealthState,
  comparison: Comparison | undefined,
  reason: string | null,
  locale: Locale,
): string {
  if (reason !== null && (state === 'no_frame_yet' || state === 'no_frames')) return reason;
  const isCaption = !STATES_WITH_TEXT.has(state) || (state === 'moved' && comparison?.tamper?.[0] !== undefined);
  return isCaption ? (comparison?.caption ?? '') : textIn(locale, `state.${state}`);
}

/** @returns why no frame comes, or why those that come fail; null: unknown */
function reasonsOf(snapshot: Kept['snapshot'], failure: Kept['failure']): string | null {
  if (snapshot?.error != null) return reasonOf(snapshot.error);
  return failure?.error ?? null;
}

/** The failure without the code of the error and the camera's address: both are long, and cards cut long texts. */
function reasonOf(error: string): string {
  const message = error.replace(/^[a-z-]+: /, '');
  const ofCamera = message.replace(/^(?:https?|rtsps?):\/\/\S+ /, '');
  return ofCamera === message ? message : `The camera ${ofCamera}`;
}

/** The order by state: cameras with a problem, then those without a frame, then the others. */
function rankOf({ state }: CameraOverview, { snapshot, failure }: CameraRecord): 0 | 1 | 2 {
  if (state === 'live') return failure === undefined ? 2 : 0;
  return state === 'no_frame_yet' && snapshot?.error == null && failure === undefined ? 1 : 0;
}

export interface CameraListQuery {
  /** part of the id or the name, in upper or lower case */
  readonly q: string;
  readonly label?: string | undefined;
  readonly sort: 'id' | 'state';
  /** with `id`, the id of the last camera of the page before; with `state`, its rank, a dot and its id */
  readonly cursor?: string | undefined;
  readonly limit: number;
}
interface Listed {
  readonly camera: StoredCamera;
  readonly overview: CameraOverview;
}

/**
 * Reads all cameras for one page: searches them, and orders them.
 * @param records ordered by id. @param now epoch ms
 * @throws ScenedeltaError 'invalid-value' for a cursor of the other order
 */
export async function cameraPage(
  records: readonly CameraRecord[],
  { q, label, sort, cursor, limit }: CameraListQuery,
  results: Results,
  now: number,
  locale: Locale = DEFAULT_LOCALE,
): Promise<{ items: Listed[]; nextCursor: string | null }> {
  const text = q.toLowerCase();
  const isFound = ({ camera }: CameraRecord) =>
    (label === undefined || camera.settings.labels?.includes(label)) &&
    [camera.id, camera.settings.name ?? ''].some((name) => name.toLowerCase().includes(text));
  const found = records.filter(isFound);
  if (sort === 'id') {
    const rest = cursor === undefined ? found : found.filter(({ camera }) => camera.id > cursor);
    const shown = rest.slice(0, limit);
    const overviews = await overviewsOf(shown, results, now, locale);
    const items = shown.map(({ camera }, i) => ({ camera, overview: overviews[i] as CameraOverview }));
    return { items, nextCursor: rest.length > limit ? (items.at(-1)?.camera.id ?? null) : null };
  }
  const [, rank, id = ''] = /^([012])\.(.+)$/.exec(cursor ?? '') ?? [];
  if (cursor !== undefined && rank === undefined) {
    throw invalidValue(`cursor is ${cursor}, expected next_cursor of a list by state`, 'cursor');
  }
  const overviews = await overviewsOf(found, results, now, locale);
  const ranked = found.map((record, i) => {
    const overview = overviews[i] as CameraOverview;
    return { camera: record.camera, overview, rank: rankOf(overview, record) };
  });
  // The sort is stable, so that equal ranks stay ordered by id.
  ranked.sort((a, b) => a.rank - b.rank);
  const rest = ranked.filter(
    (one) => rank === undefined || one.rank > Number(rank) || (one.rank === Number(rank) && one.camera.id > id),
  );
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rest.length > limit && last !== undefined ? `${last.rank}.${last.camera.id}` : null };
}
