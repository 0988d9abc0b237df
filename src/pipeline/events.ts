/**
 * Events: a thing with a partner at another place or of another outline moved; one without came or left. Each has the
 * probability that it is true, by the judge from the evidence of all witnesses.
 */
import { areaOf, type Box, boxDistance, sharedArea } from '../base/images.js';
import { logitOf } from '../base/logistic.js';
import type { EventRow } from '../model/judge-schema.js';
import { intersectionOverUnion } from '../model/regions.js';
import type { StatementKind } from '../schemas/comparison.js';
import { type Judge, judged, LEAST_PROBABILITY as LEAST } from './judge.js';
import { assignedLinks, classOf, type Link } from './links.js';
import type { Thing } from './things.js';

export interface Event {
  readonly kind: StatementKind;
  /** one, or of a move both ends, that of `before` first */
  readonly things: readonly Thing[];
  readonly row: EventRow;
  /** that it is true, 0..1 */
  readonly probability: number;
}

/** @returns the most probable first */
export function eventsOf(things: readonly Thing[], links: readonly Link[], judge: Judge): Event[] {
  const assigned = assignedLinks(links, judge);
  const linked = new Set(assigned.flatMap(({ before, after }) => [before, after]));
  const found = [
    ...assigned.map(({ before, after }) => ({ kind: 'move' as const, things: [before, after] })),
    ...things
      .filter((thing) => !linked.has(thing))
      .map((thing) => ({
        kind: thing.side === 'after' ? ('appear' as const) : ('disappear' as const),
        things: [thing],
      })),
  ];
  return found
    .map((event): Event => {
      const row = evidenceOf(event, things, links);
      return { ...event, row, probability: judged(judge.event, row) };
    })
    .sort((a, b) => b.probability - a.probability);
}

function evidenceOf(
  { kind, things }: Pick<Event, 'kind' | 'things'>,
  all: readonly Thing[],
  links: readonly Link[],
): EventRow {
  const mean = (of: (thing: Thing) => number): number =>
    things.reduce((sum, thing) => sum + of(thing), 0) / things.length;
  const most = (of: (thing: Thing) => number): number => Math.max(...things.map(of));
  const said = (name: string): number =>
    logitOf(
      mean(({ witness }) => witness.kinds[name] ?? 0),
      LEAST,
    );
  const others = all.filter((thing) => !things.includes(thing));
  const covered = (thing: Thing, by: (other: Thing) => boolean): number =>
    Math.max(
      0,
      ...others
        .filter((other) => by(other) && areaOf(other.box) > areaOf(thing.box))
        .map((other) => sharedArea(thing.box, other.box) / areaOf(thing.box)),
    );
  const involved = links.filter((link) => things.includes(link.before) || things.includes(link.after));
  const direct =
    kind === 'move' ? involved.find((link) => things.includes(link.before) && things.includes(link.after)) : undefined;
  const rival = Math.max(0, ...involved.filter((link) => link !== direct).map((link) => link.probability));
  const largest = Math.max(...all.map(({ box }) => areaOf(box)));
  const [from, to] = [things[0] as Thing, things.at(-1) as Thing];
  const isMove = kind === 'move' ? 1 : 0;
  return {
    isMove,
    isAppearance: kind === 'appear' ? 1 : 0,
    score: logitOf(Math.min(...things.map(({ region }) => region.score)), LEAST),
    area: Math.log(most(({ box }) => areaOf(box))),
    relative: Math.log(most(({ box }) => areaOf(box)) / largest),
    nothing: logitOf(
      mean(({ nothing }) => nothing),
      LEAST,
    ),
    personShare: mean((thing) => classOf(thing, 'person')),
    vehicleShare: mean((thing) => classOf(thing, 'vehicle')),
    objectShare: mean((thing) => classOf(thing, 'object')),
    animalShare: mean((thing) => classOf(thing, 'animal')),
    detected: mean(({ likelyPerson }) => likelyPerson),
    isPerson: mean(({ person }) => person),
    saidKind: said(kind),
    saidMove: said('move'),
    saidReplace: said('replace'),
    saidNone: said('none'),
    clauses: mean(({ witness }) => witness.clauses.filter((clause) => clause.kind === kind).length),
    link: direct === undefined ? 0 : logitOf(direct.probability, LEAST),
    rival: logitOf(rival, LEAST),
    part: most((thing) => covered(thing, (other) => other.side === thing.side)),
    behind: most((thing) => covered(thing, (other) => other.side !== thing.side)),
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
