/** The end of tracks, and the events of the visits that they are. Pure. */
import type { VisitEvent } from '../../schemas/visit.js';
import type { VisitFrame, VisitSettings, VisitsState, VisitTrack } from './state.js';
import { mostVoted } from './values.js';
import { isPassage, isVisit, visitOf } from './visit.js';

/** Frames in a row, and the time, without a thing after which it is gone: it may stand behind a pillar. */
const GONE = { frames: 4, ms: 3_000, atEdge: 2 } as const;
/** Bounds of the state. */
const MAX_TRACKS = 64;
const MAX_ENDED = 16;

export interface Folded {
  readonly state: VisitsState;
  readonly events: readonly VisitEvent[];
}

/** Opens the visits that have enough frames, and ends the tracks that are gone, or hidden for as long as a pause. */
export function concluded(
  state: VisitsState,
  tracks: readonly VisitTrack[],
  { at, camera, view }: VisitFrame,
  { gapMs }: VisitSettings,
): Folded {
  const events: VisitEvent[] = [];
  const left: VisitTrack[] = [];
  const ended = [...state.ended];
  for (const track of tracks) {
    if (isGone(track, at)) {
      events.push(...endingOf(track, camera, 'gone'));
      if (track.opened || mostVoted(track.classes) === 'object') ended.push({ track, end: 'gone' });
    } else if (view !== 'repeats' && (view === 'hidden' || track.missed === 0) && at - track.last > gapMs) {
      events.push(...endingOf(track, camera, 'unseen'));
    } else if (!track.opened && track.merged === 0 && isVisit(track)) {
      const opened = { ...track, opened: true };
      events.push({ type: 'visit.opened', visit: visitOf(opened, camera, null) });
      left.push(opened);
    } else left.push(track);
  }
  events.push(...left.slice(0, -MAX_TRACKS).flatMap((track) => endingOf(track, camera, 'unseen')));
  return { state: { ...state, tracks: left.slice(-MAX_TRACKS), ended: ended.slice(-MAX_ENDED) }, events };
}

function isGone({ missed: frames, missedSince, box }: VisitTrack, at: number): boolean {
  if (missedSince === null) return false;
  const atEdge = box.x <= 0.02 || box.x + box.width >= 0.98 || box.y + box.height >= 0.98;
  return frames >= (atEdge ? GONE.atEdge : GONE.frames) && (atEdge || at - missedSince >= GONE.ms);
}

export function endingOf(track: VisitTrack, camera: string, end: 'gone' | 'unseen'): VisitEvent[] {
  if (track.opened) return [{ type: 'visit.ended', visit: visitOf(track, camera, end) }];
  return isPassage(track) ? [{ type: 'visit.passed', visit: visitOf(track, camera, end) }] : [];
}
