/**
 * Tracker: associates the locations of an observation with the tracks of the frames before, and counts per track how
 * many frames showed it, showed its absence, or could not show it. The reducer (advance.ts) decides from these counts
 * what opens and what ends.
 */
import { derivedId } from '../../base/ids.js';
import { betterSighting } from './captions.js';
import { followStill } from './left-objects.js';
import { displacement, isLost, isMostlyBehind, isSameLocation, locationsOf, relationTo } from './locations.js';
import { judgeLocations } from './rule-sentences.js';
import type { ChangeRules } from './rules.js';
import { withScene } from './scene-evidence.js';
import type { Location, Observation, PersonSighting, Settled, Track, TrackerState } from './state.js';

/** Probability of a change from which it is more likely than none; the threshold of the bundle is not known here. */
const EVEN = 0.5;

/**
 * Evidence of one observation about one track: the locations that belong to it alone, its absence, or nothing, because
 * weather, light, a blocked lens or a damaged picture hid the scene, or the settings do not count what differs.
 */
type TrackEvidence = { readonly seen: readonly Location[] } | 'absent' | 'hidden';

export interface TrackUpdate {
  readonly track: Track;
  readonly seen: boolean;
}

/** @returns every track with the counts of this observation, then a new track per location that belongs to none. */
export function updateTracks(
  state: TrackerState,
  observation: Observation,
  rules: Pick<ChangeRules, 'camera' | 'before' | 'confirmFrames' | 'sentences'>,
  people: readonly PersonSighting[],
): TrackUpdate[] {
  const recent = { last: state.at, people };
  const locations = locationsOf(observation);
  const owners = associate(locations, state.tracks);
  const judgedAfter = (known: Track['judged'], matched: readonly Location[]): Pick<Track, 'judged'> =>
    known === undefined && rules.sentences.length === 0
      ? {}
      : { judged: judgeLocations(known ?? [], matched, observation.things ?? [], rules.sentences) };
  const updated = state.tracks.map((track) => {
    const matched = locations.filter((_location, i) => owners[i]?.includes(track));
    // Tracks that share one merged region are all seen, but the region is the outline of none of them.
    const outlines = matched.filter((location) => owners[locations.indexOf(location)]?.length === 1);
    const seen = matched.length > 0;
    const evidence = seen ? { seen: outlines } : evidenceOfUnseen(track, observation);
    const next = applyEvidence(track, evidence, observation, rules);
    if (!seen) return { track: next, seen };
    const known = track.still ?? null;
    const still =
      observation.repeats && known !== null
        ? known
        : followStill(known, nearestTo(track, locations, owners), observation, recent);
    return { track: { ...next, still, ...judgedAfter(track.judged, outlines) }, seen };
  });
  const unowned = locations.filter((_location, i) => owners[i]?.length === 0);
  const begun = unowned.map((location, i) => {
    const name = [rules.camera, observation.at, observation.frame, i].join('/');
    const settled = settledRelation(location, state, observation, rules);
    const still = followStill(null, [location], observation, recent);
    const track = beginTrack(location, observation, name, settled);
    return { track: { ...track, still, ...judgedAfter(undefined, [location]) }, seen: true };
  });
  return [...updated, ...begun];
}

/**
 * Association: a location belongs to all tracks that it overlaps; otherwise to the nearest track within
 * MAX_DISPLACEMENT that overlaps no location, because a moving thing stays one change. Pairs are assigned greedily, the
 * shortest displacement first.
 * @returns the tracks per location
 */
function associate(locations: readonly Location[], tracks: readonly Track[]): Track[][] {
  const undoing = new Set(locations.filter((location) => tracks.some((track) => isUndoneBy(track, location))));
  const mayOwn = (track: Track, location: Location) =>
    agreeOnTamper(track, location) && !(track.stage === 'ended' && undoing.has(location));
  const owners = locations.map((location) =>
    tracks.filter((track) => mayOwn(track, location) && isSameLocation(track.regions, location.regions)),
  );
  const candidates = locations.flatMap((location, i) =>
    owners[i]?.length !== 0
      ? []
      : tracks
          .filter((track) => mayOwn(track, location) && !owners.some((of) => of.includes(track)))
          .map((track) => ({ i, track, distance: displacement(track.regions, location.regions) })),
  );
  const moved = new Set<Track>();
  for (const { i, track, distance } of candidates.sort((a, b) => a.distance - b.distance)) {
    if (!Number.isFinite(distance) || moved.has(track) || owners[i]?.length !== 0) continue;
    moved.add(track);
    owners[i]?.push(track);
  }
  return owners;
}

/** The locations of a track, without those that another of their tracks is nearer to. */
const nearestTo = (track: Track, locations: readonly Location[], owners: readonly Track[][]): Location[] =>
  locations.filter(({ regions }, i) => {
    const distances = (owners[i] ?? []).map((one) => displacement(one.regions, regions));
    return owners[i]?.[distances.indexOf(Math.min(...distances))] === track;
  });

/** Tampering covers the whole frame and would overlap every track of the scene, so it matches tampering only. */
const agreeOnTamper = (track: Track, location: Location): boolean => isTamper(track) === (location.kind === 'tamper');
/**
 * Whether a location shows the opposite of a track that has ended. Such a track waits until "before" shows what it
 * showed, so that the opposite is another event.
 */
const isUndoneBy = (track: Track, location: Location): boolean =>
  track.stage === 'ended' &&
  !isTamper(track) &&
  relationTo({ kind: 'appear', regions: [...track.regions] }, location) === 'undoes';
const isTamper = (track: Track): boolean => track.kinds.tamper !== undefined;

function evidenceOfUnseen(track: Track, observation: Observation): TrackEvidence {
  const { verdict, lost, onLens } = observation;
  if (verdict === 'tamper') return 'hidden';
  // A nuisance hides the scene. It does prove a free lens, because the frame could be aligned with "before".
  if (verdict === 'nuisance' && !isTamper(track)) return 'hidden';
  if (!isTamper(track) && isMostlyBehind(track.regions, onLens)) return 'hidden';
  // A pending track waits for frames that count.
  if (track.stage !== 'pending' && !isTamper(track) && isExcluded(track, observation)) return 'hidden';
  return isLost(track.regions, lost) ? 'hidden' : 'absent';
}

/** Whether what a frame shows counted by the threshold that an open track was last seen with, and does not now. */
export const isUncounted = ({ tracks }: Pick<TrackerState, 'tracks'>, observation: Observation): boolean =>
  tracks.some((track) => track.stage === 'open' && isBelowThreshold(track, observation));

/** Whether a frame may show a track, but the settings do not count what differs there. */
export const isExcluded = (track: Track, observation: Observation): boolean =>
  isMostlyBehind(track.regions, observation.uncounted) || isBelowThreshold(track, observation);

const isBelowThreshold = (
  { threshold: former }: Pick<Track, 'threshold'>,
  { verdict, confidence, uncounted, threshold }: Observation,
): boolean =>
  (verdict === 'none' || verdict === 'nuisance') &&
  uncounted === undefined &&
  threshold !== former &&
  confidence >= (former ?? EVEN);

function applyEvidence(
  track: Track,
  evidence: TrackEvidence,
  observation: Observation,
  { confirmFrames }: Pick<ChangeRules, 'confirmFrames'>,
): Track {
  const pending = track.stage === 'pending';
  if (evidence === 'hidden') return pending ? { ...track, hidden: track.hidden + 1 } : track;
  if (evidence === 'absent') {
    // An absence restarts the confirmation of a pending track; a hidden frame does not.
    const seen = pending ? 0 : track.seen;
    return {
      ...track,
      seen,
      missed: track.missed + 1,
      missedSince: track.missedSince ?? observation.at,
    };
  }
  const regions = evidence.seen.flatMap((location) => location.regions);
  const kinds = { ...track.kinds };
  const sightings = { ...track.sightings };
  let { best } = track;
  for (const location of evidence.seen) {
    const { kind } = location;
    kinds[kind] = (kinds[kind] ?? 0) + 1;
    if (!pending) continue;
    sightings[kind] = betterSighting(sightings[kind], location, observation);
    if (observation.confidence > best.confidence) best = captionSource(location, observation);
  }
  const { threshold: _former, ...known } = track;
  const { threshold } = observation;
  const seen = track.seen + 1;
  // Absences add up until confirm_frames sightings in a row: a flicker would otherwise stay pending, and hold "before",
  // without end.
  const keepsMissed = pending && seen < confirmFrames;
  return {
    ...known,
    ...(threshold === undefined ? {} : { threshold }),
    seen,
    missed: keepsMissed ? track.missed : 0,
    missedSince: keepsMissed ? track.missedSince : null,
    hidden: 0,
    regions: regions.length === 0 ? track.regions : regions,
    kinds,
    best,
    sightings,
    ...sceneOf(track.scene, evidence.seen),
  };
}

function sceneOf(known: Track['scene'], seen: readonly Location[]): Pick<Track, 'scene'> {
  const scene = withScene(known, seen);
  return scene === undefined ? {} : { scene };
}

const captionSource = ({ caption }: Location, { comparisonId, confidence }: Observation) => ({
  comparisonId,
  caption,
  confidence,
});

/** The first settled change that the location undoes or, with a background model, repeats. */
function settledRelation(
  location: Location,
  { settled }: TrackerState,
  { light }: Observation,
  { before }: Pick<ChangeRules, 'before'>,
): Track['settled'] {
  const isGone = ({ goneIn }: Settled) => goneIn !== undefined;
  // A thing that came later at the place of one that has gone.
  for (const { change, goneIn } of [...settled.filter((one) => !isGone(one)), ...settled.filter(isGone)]) {
    const relation = relationTo(change, location);
    if (goneIn !== undefined && !(relation === 'undoes' && goneIn.some((one) => one === light?.now))) continue;
    // A previous frame shows all that has settled, so that a repetition of it is a new thing.
    if (relation === 'undoes' || (relation === 'repeats' && before === 'memory')) {
      return { id: change.id, relation };
    }
  }
  return null;
}

function beginTrack(location: Location, observation: Observation, name: string, settled: Track['settled']): Track {
  const { at, comparisonId, threshold } = observation;
  return {
    stage: 'pending',
    id: derivedId('chg', at, name),
    firstSeen: at,
    firstComparison: comparisonId,
    seen: 1,
    missed: 0,
    missedSince: null,
    hidden: 0,
    regions: location.regions,
    kinds: { [location.kind]: 1 },
    best: captionSource(location, observation),
    ...(threshold === undefined ? {} : { threshold }),
    sightings: { [location.kind]: betterSighting(undefined, location, observation) },
    ...sceneOf(undefined, [location]),
    settled,
    change: null,
    lastAlerted: null,
    acknowledged: false,
    still: null,
  };
}
