/** Following places from frame to frame: which track a sighting belongs to, and what an observation says of each. */
import { CHANGE_KINDS, type ChangeKind, type ChangeRegion } from '../schemas/change.js';
import { derivedId } from './identity.js';
import { isSameLocation, locationsOf, relation, stepsBetweenLocations } from './places.js';
import type { ChangeRules } from './rules.js';
import type { Location, Observation, Track, TrackerState } from './state.js';

/** What an observation says of a track. Nothing: weather, light or a blocked lens hid the scene. */
type TrackEvidence = { readonly seen: readonly Location[] } | 'absent' | 'nothing';

export interface TrackUpdate {
  readonly track: Track;
  /** by this observation; not seen is not the same as absent, which is counted in `track.missed` */
  readonly seen: boolean;
}

/** Every track as it stands after the observation, and new ones for what none explains; nothing is opened or ended here. */
export function follow(
  state: TrackerState,
  observation: Observation,
  rules: Pick<ChangeRules, 'camera' | 'before' | 'confirmFrames'>,
): TrackUpdate[] {
  const sightings = locationsOf(observation);
  const owners = ownersOf(sightings, state.tracks);
  const known = state.tracks.map((track) => {
    const mine = sightings.filter((_sighting, i) => owners[i]?.includes(track));
    // Two that have melted into one region are both there, but neither knows its own outline any more.
    const alone = mine.filter((sighting) => owners[sightings.indexOf(sighting)]?.length === 1);
    const seen = mine.length > 0;
    const said = seen ? { seen: alone } : saidOf(track, observation);
    return { track: after(track, said, observation, rules), seen };
  });
  const strangers = sightings.filter((_sighting, i) => owners[i]?.length === 0);
  const begun = strangers.map((sighting, i) => {
    const name = [rules.camera, observation.at, observation.frame, i].join('/');
    return { track: begin(sighting, observation, name, settledAt(sighting, state, rules)), seen: true };
  });
  return [...known, ...begun];
}

/**
 * The tracks that each sighting belongs to: all those at its place; else the nearest one within reach that has none at its own, because
 * what moves is one change on its way. Each way is given once, the shortest first.
 */
function ownersOf(sightings: readonly Location[], tracks: readonly Track[]): Track[][] {
  const owners = sightings.map((sighting) =>
    tracks.filter((track) => isSameSort(track, sighting) && isSameLocation(track.regions, sighting.regions)),
  );
  const ways = sightings.flatMap((sighting, i) =>
    owners[i]?.length !== 0
      ? []
      : tracks
          .filter((track) => isSameSort(track, sighting) && !owners.some((known) => known.includes(track)))
          .map((track) => ({ i, track, steps: stepsBetweenLocations(track.regions, sighting.regions) })),
  );
  const gone = new Set<Track>();
  for (const { i, track, steps } of ways.sort((a, b) => a.steps - b.steps)) {
    if (!Number.isFinite(steps) || gone.has(track) || owners[i]?.length !== 0) continue;
    gone.add(track);
    owners[i]?.push(track);
  }
  return owners;
}

/** Tampering and things in the scene are tracks of two sorts: the one covers the whole frame, and is not every other's place. */
const isSameSort = (track: Track, sighting: Location): boolean =>
  isTamper(track) === (sighting.kind === 'tamper');
const isTamper = (track: Track): boolean => track.kinds.tamper !== undefined;

function saidOf(track: Track, { verdict }: Observation): TrackEvidence {
  if (verdict === 'tamper') return 'nothing';
  // The frame could be laid on the one before, so that the lens is free; of what is in the scene it says nothing.
  if (verdict === 'nuisance' && !isTamper(track)) return 'nothing';
  return 'absent';
}

function after(
  track: Track,
  said: TrackEvidence,
  { at, comparisonId, caption, confidence }: Observation,
  { confirmFrames }: Pick<ChangeRules, 'confirmFrames'>,
): Track {
  const pending = track.stage === 'pending';
  if (said === 'nothing') return pending ? { ...track, hidden: (track.hidden ?? 0) + 1 } : track;
  if (said === 'absent') {
    // What flickers begins its row anew; a frame that could not tell does not break it.
    const seen = pending ? 0 : track.seen;
    return { ...track, seen, missed: track.missed + 1, missedSince: track.missedSince ?? at };
  }
  const regions = said.seen.flatMap((sighting) => sighting.regions);
  const kinds = { ...track.kinds };
  for (const { kind } of said.seen) kinds[kind] = (kinds[kind] ?? 0) + 1;
  const better = pending && confidence > track.best.confidence;
  const seen = track.seen + 1;
  // Otherwise a flicker too fast for either row would await its confirmation, and hold "before", for as long as it goes on.
  const missing = pending && seen < confirmFrames ? track : { missed: 0, missedSince: null };
  return {
    ...track,
    seen,
    missed: missing.missed,
    missedSince: missing.missedSince,
    hidden: 0,
    regions: regions.length === 0 ? track.regions : regions,
    kinds,
    best: better ? { comparisonId, caption, confidence } : track.best,
  };
}

function settledAt(
  sighting: Location,
  { settled }: TrackerState,
  { before }: Pick<ChangeRules, 'before'>,
): Track['settled'] {
  for (const { change } of settled) {
    const found = relation(sighting, change);
    // Of the frame before, all has been taken over: the same place, the same side is something new there.
    if (found === 'undoes' || (found === 'repeats' && before === 'memory'))
      return { id: change.id, relation: found };
  }
  return null;
}

function begin(sighting: Location, observation: Observation, name: string, settled: Track['settled']): Track {
  const { at, comparisonId, caption, confidence } = observation;
  return {
    stage: 'pending',
    id: derivedId('chg', at, name),
    firstSeen: at,
    firstComparison: comparisonId,
    seen: 1,
    missed: 0,
    missedSince: null,
    regions: sighting.regions,
    kinds: { [sighting.kind]: 1 },
    best: { comparisonId, caption, confidence },
    settled,
    change: null,
    told: null,
    acknowledged: false,
  };
}

/** The kind that was seen most often; of equals the one that stands first in CHANGE_KINDS. */
export function kindOf(track: Pick<Track, 'kinds'>): ChangeKind {
  const count = (kind: ChangeKind) => track.kinds[kind] ?? 0;
  return CHANGE_KINDS.reduce((best, kind) => (count(kind) > count(best) ? kind : best));
}

/** Of the strongest region that lies in one. */
export const zoneOf = (regions: readonly ChangeRegion[]): string | null =>
  regions.find(({ zone }) => zone !== null)?.zone ?? null;
