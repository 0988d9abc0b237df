/** The records of an evidence package: changes, visits, their comparisons, and the settings of the camera. */
import type { Static } from 'typebox';
import { invalidValue, notFound, ScenedeltaError } from '../../base/errors.js';
import { currentVisits } from '../../brief/current-visits.js';
import type { Change } from '../../schemas/change.js';
import { roundFigures } from '../../schemas/rounding.js';
import type { Visit } from '../../schemas/visit.js';
import type { StoredComparison } from '../../stores/comparisons/stored-comparison.js';
import { seesCamera, type Visibility } from '../../stores/redis/visibility.js';
import { findCamera, presentCamera } from '../cameras/present.js';
import { changesOf } from '../changes/one-change.js';
import { findComparison } from '../comparisons/find-comparison.js';
import type { ApiDependencies } from '../dependencies.js';
import { parseTime } from '../parse-time.js';
import type { Camera } from '../schemas/camera-answers.js';
import type { EvidenceQuery } from '../schemas/evidence.js';

export type EvidenceStores = Pick<ApiDependencies, 'results' | 'cameras' | 'changes' | 'visits' | 'clock'>;

export interface Evidence {
  readonly subject: Readonly<Record<string, string>>;
  readonly camera: Camera;
  readonly changes: readonly Change[];
  readonly visits: readonly Visit[];
  readonly comparisons: readonly StoredComparison[];
  /** sentences about comparisons that are no longer kept */
  readonly missing: string[];
}

/** Changes, and visits, of a time range. Each has up to six frames. */
const MOST = 100;

/**
 * @throws ScenedeltaError 'invalid-request' unless one subject is named; 'not-found', also if the reader may not see
 *   it; 'invalid-value' if the time range has too much
 */
export async function collectEvidence(
  query: Static<typeof EvidenceQuery>,
  visibility: Visibility,
  stores: EvidenceStores,
): Promise<Evidence> {
  const { changes, visits } = await recordsOf(query, visibility, stores);
  const camera = query.camera ?? (changes[0] ?? visits[0])?.camera ?? '';
  // A package is handed on: it has no queries of addresses, which may contain tokens, not even for an administrator.
  const settings = presentCamera(await findCamera(stores, camera, visibility), { isAdmin: false });
  const ids = new Set([
    ...changes.flatMap(({ comparisons: { first, best, last } }) => [first, best, last]),
    ...visits.map(({ best }) => best.comparison),
  ]);
  const comparisons: StoredComparison[] = [];
  const missing: string[] = [];
  for (const id of ids) {
    try {
      comparisons.push(await findComparison(stores, id, visibility));
    } catch (thrown) {
      if (!(thrown instanceof ScenedeltaError) || thrown.code !== 'not-found') throw thrown;
      missing.push(`${id}: the comparison is no longer kept`);
    }
  }
  return { subject: { ...query }, camera: settings, changes, visits, comparisons, missing };
}

async function recordsOf(
  { change, visit, camera, since, until }: Static<typeof EvidenceQuery>,
  visibility: Visibility,
  stores: EvidenceStores,
): Promise<Pick<Evidence, 'changes' | 'visits'>> {
  const { find } = changesOf(stores);
  const hasRange = since !== undefined && until !== undefined;
  if ([change, visit, camera].filter((one) => one !== undefined).length !== 1 || hasRange !== (camera !== undefined)) {
    throw invalidValue('expected change, or visit, or camera with since and until');
  }
  if (change !== undefined) return { changes: [await find(change, visibility)], visits: [] };
  if (visit !== undefined) {
    const stored = await stores.visits.get(visit);
    if (stored === undefined || !seesCamera(visibility, stored.camera)) {
      throw notFound(`There is no visit ${visit}: it never was or has expired`);
    }
    const visits = await currentVisits([stored], stores);
    const linked = await Promise.all(stored.changes.map(({ id }) => stores.changes.get(id)));
    return { changes: linked.filter((one) => one !== undefined).map(roundFigures), visits: visits.map(roundFigures) };
  }
  const range = { since: parseTime(since ?? '', 'since'), until: parseTime(until ?? '', 'until'), limit: MOST };
  const asked = { camera: (await findCamera(stores, camera ?? '', visibility)).id, visibility, ...range };
  const [changes, visits] = await Promise.all([
    stores.changes.list(asked),
    stores.visits.list({ ...asked, kind: 'visit' }),
  ]);
  if (changes.nextCursor !== null || visits.nextCursor !== null) {
    throw invalidValue(
      `${camera} has more than ${MOST} changes or visits in this time, expected a shorter one`,
      'until',
    );
  }
  return {
    changes: changes.items.map(roundFigures),
    visits: (await currentVisits(visits.items, stores)).map(roundFigures),
  };
}
