/**
 * Events: a thing with a partner at another place or of another outline moved; one without came or left. Each has the
 * probability that it is true, by the judge from the evidence of all witnesses.
 */
import { areaOf, type Box, boxDistance, sharedArea } from '../base/images.js';
import type { EventRow } from '../model/judge-schema.js';
import { intersectionOverUnion } from '../model/regions.js';
import type { StatementKind } from '../schemas/kinds.js';
import { type Judge, judged, oddsOf } from './judge.js';
import { assignedLinks, classOf, type Link } from './links.js';
import type { Thing } from './things.js';

export interface Event {
  readonly kind: StatementKind;
  /** one, or of a move both ends, that of `before` first */
  readonly things: readonly Thing[];
  readonly row: EventRow;
  /** whether the frame that does not show a thing has one that could be it; both ends of a move may be two things */
  readonly hasRival: boolean;
  /** that it is true, 0..1 */
  readonly probability: number;
}

/**
 * A move per link of the assignment, and per thing that it came or left: most of them are not true together.
 * @returns the most probable first
 */
export function possibleEvents(things: readonly Thing[], links: readonly Link[], judge: Judge): Event[] {
  const judgedEvent = (event: Pick<Event, 'kind' | 'things'>): Event => {
    const row = evidenceOf(event, things, links);
    const probability = event.kind === 'move' ? judged(judge.move, row) : judged(judge.single, row);
    // There is a link for each thing of one frame and each of the other.
    return { ...event, row, probability, hasRival: links.length > 0 };
  };
  return [
    ...assignedLinks(links, judge).map(({ before, after }) => judgedEvent({ kind: 'move', things: [before, after] })),
    ...things.map((thing) => judgedEvent({ kind: thing.side === 'after' ? 'appear' : 'disappear', things: [thing] })),
  ].sort((a, b) => b.probability - a.probability);
}

/**
 * @returns those that are true together, in their order: of a link its move, or that its ends left and came if the move
 * is improbable
 */
export function chosenEvents(possible: readonly Event[], { levels }: Pick<Judge, 'levels'>): Event[] {
  const isMove = ({ kind, probability }: Event): boolean => kind === 'move' && probability >= levels.move;
  const moved = new Set(possible.filter(isMove).flatMap(({ things }) => things));
  return possible.filter((event) => isMove(event) || (event.kind !== 'move' && !moved.has(event.things[0] as Thing)));
}

function evidenceOf(
  { kind, things }: Pick<Event, 'kind' | 'things'>,
  all: readonly Thing[],
  links: readonly Link[],
): EventRow {
  const mean = (of: (thing: Thing) => number): number =>
    things.reduce((sum, thing) => sum + of(thing), 0) / things.length;
  const most = (of: (thing: Thing) => number): number => Math.max(...things.map(of));
  const said = (name: string): number => oddsOf(mean(({ witness }) => witness.kinds[name] ?? 0));
  const others = all.filter((thing) => !things.includes(thing));
  const covered = ({ side, box }: Thing, isOfItsSide: boolean): number => {
    const larger = others.filter((other) => (other.side === side) === isOfItsSide && areaOf(other.box) > areaOf(box));
    return Math.max(0, ...larger.map((other) => sharedArea(box, other.box) / areaOf(box)));
  };
  const involved = links.filter((link) => things.includes(link.before) || things.includes(link.after));
  const isMove = kind === 'move';
  const direct = isMove
    ? involved.find((link) => things.includes(link.before) && things.includes(link.after))
    : undefined;
  // A thing that is coloured otherwise than the one that could be it came or left.
  const alike =
    direct ?? involved.reduce<Link | undefined>((a, b) => (a && a.row.alike >= b.row.alike ? a : b), undefined);
  const rival = Math.max(0, ...involved.filter((link) => link !== direct).map((link) => link.probability));
  const largest = Math.max(...all.map(({ box }) => areaOf(box)));
  const [from, to] = [things[0] as Thing, things.at(-1) as Thing];
  return {
    isAppearance: kind === 'appear' ? 1 : 0,
    score: oddsOf(Math.min(...things.map(({ region }) => region.score))),
    area: Math.log(most(({ box }) => areaOf(box))),
    relative: Math.log(most(({ box }) => areaOf(box)) / largest),
    nothing: oddsOf(mean(({ nothing }) => nothing)),
    personShare: mean((thing) => classOf(thing, 'person')),
    vehicleShare: mean((thing) => classOf(thing, 'vehicle')),
    objectShare: mean((thing) => classOf(thing, 'object')),
    animalShare: mean((thing) => classOf(thing, 'animal')),
    saidKind: said(kind),
    saidMove: said('move'),
    saidReplace: said('replace'),
    clauses: mean(({ witness }) => witness.clauses.filter((clause) => clause.kind === kind).length),
    link: direct === undefined ? 0 : oddsOf(direct.probability),
    rival: oddsOf(rival),
    nouns: alike?.row.nouns ?? 0,
    paint: alike?.row.paint ?? 0,
    bands: alike?.row.bands ?? 0,
    part: most((thing) => covered(thing, true)),
    behind: most((thing) => covered(thing, false)),
    near: Math.min(1, ...others.filter(({ side }) => side === to.side).map(({ box }) => boxDistance(box, to.box))),
    filled: mean(({ filled }) => filled),
    edge: mean(({ box }) => (touchesEdge(box) ? 1 : 0)),
    iou: isMove ? intersectionOverUnion(from.box, to.box) : 0,
    grown: isMove ? Math.abs(Math.log(areaOf(to.box) / areaOf(from.box))) : 0,
  };
}

const touchesEdge = ({ x, y, width, height }: Box): boolean =>
  x < EDGE || y < EDGE || x + width > 1 - EDGE || y + height > 1 - EDGE;
/** Half a cell of the maps. */
const EDGE = 0.014;
