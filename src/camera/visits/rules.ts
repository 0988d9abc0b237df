/** Alerts of rules about visits: "a person has stayed longer than 60 s in the yard". Pure. */
import type { Box } from '../../base/images.js';
import { isoTime } from '../../base/wall-clock.js';
import { sameColour } from '../../language/people/colours.js';
import { nounFit } from '../../language/people/nouns.js';
import type { RuleSentence, RuleThing } from '../../language/people/rule-sentence.js';
import { compareSeverity, type Severity } from '../../schemas/kinds.js';
import type { Thing } from '../../schemas/statement.js';
import type { Visit, VisitEvent } from '../../schemas/visit.js';
import type { VisitsState } from './state.js';
import { visitOf } from './visit.js';

/** A severity rule whose sentence is about visits. */
export interface VisitRule {
  readonly when: string;
  readonly said: RuleSentence;
  readonly severity: Severity;
  /** whether a box lies where the rule is about */
  readonly isInside: (box: Box) => boolean;
  /** whether the rule holds at a capture time, epoch ms */
  readonly isDuring: (at: number) => boolean;
}

/**
 * The first rule that holds decides. A visit is alerted once per severity: again only by a rule that is more severe.
 * @param ended events of this frame
 * @param rules in their order; those below the least severity of alerts are in it, because they decide, too
 */
export function alertVisits(
  state: VisitsState,
  ended: readonly VisitEvent[],
  { camera, at, rules, isAlerted }: VisitAlerting,
): { readonly state: VisitsState; readonly events: readonly VisitEvent[] } {
  if (rules.length === 0) return { state, events: [] };
  const events: VisitEvent[] = [];
  const alertOf = (visit: Visit, isEnd: boolean): Visit['alert'] => {
    const rule = rules.find((one) => holds(one, visit, isEnd));
    const isDue =
      rule !== undefined &&
      isAlerted(rule.severity) &&
      (visit.alert === undefined || compareSeverity(rule.severity, visit.alert.severity) > 0);
    return isDue ? { when: rule.when, severity: rule.severity, at: isoTime(at) } : undefined;
  };
  const tracks = state.tracks.map((track) => {
    if (!track.opened || track.last !== at) return track;
    const visit = visitOf(track, camera, null);
    const alert = alertOf(visit, false);
    if (alert === undefined) return track;
    events.push({ type: 'visit.alerted', visit: { ...visit, alert } });
    return { ...track, alert };
  });
  const endings = new Map<string, NonNullable<Visit['alert']>>();
  for (const { type, visit } of ended) {
    const alert = type === 'visit.ended' ? alertOf(visit, true) : undefined;
    if (alert === undefined) continue;
    endings.set(visit.id, alert);
    events.push({ type: 'visit.alerted', visit: { ...visit, alert } });
  }
  if (events.length === 0) return { state, events };
  const closed = state.ended.map((one) => {
    const alert = endings.get(one.track.id);
    return alert === undefined ? one : { ...one, track: { ...one.track, alert } };
  });
  return { state: { ...state, tracks, ended: closed }, events };
}

interface VisitAlerting {
  readonly camera: string;
  /** capture time of the frame, epoch ms */
  readonly at: number;
  readonly rules: readonly VisitRule[];
  /** whether a severity is alerted at this time */
  readonly isAlerted: (severity: Severity) => boolean;
}

/** A stay holds while the thing is there, "come and gone" at its end: both the first and the last frame count. */
function holds({ said, isInside, isDuring }: VisitRule, visit: Visit, isEnd: boolean): boolean {
  if (!said.things.some((thing) => isThing(thing, visit.content.thing))) return false;
  const [first, last] = [visit.first_seen, visit.last_seen].map(Date.parse) as [number, number];
  if (said.kind === 'stay') return !isEnd && isDuring(last) && staySeconds(visit, isInside) > (said.seconds ?? 0);
  const wentBy = isEnd && visit.end === 'gone' && !visit.there_before;
  return wentBy && visit.path.some(({ box }) => isInside(box)) && isDuring(first) && isDuring(last);
}

const isThing = ({ noun, colour }: RuleThing, thing: Thing): boolean =>
  (noun === null || /^(?:same|wider)$/.test(nounFit(noun, thing.noun))) &&
  (colour === null || (thing.colour !== null && sameColour(colour, thing.colour)));

/** Time without interruption until the last place of the path. */
function staySeconds({ path, last_seen }: Visit, isInside: (box: Box) => boolean): number {
  const outside = path.findLastIndex(({ box }) => !isInside(box));
  const since = path[outside + 1];
  return since === undefined ? 0 : (Date.parse(last_seen) - Date.parse(since.at)) / 1000;
}
