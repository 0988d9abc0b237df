/**
 * Frames that are far apart in time: people who are elsewhere after minutes may be others. No move is stated of them;
 * those of the first frame have left, and those of the second one have come. Pure.
 */
import { type Box, boxDistance, type Side } from '../base/images.js';
import { thirdOf } from '../language/place.js';
import { classOf } from '../language/thing.js';
import { writeWords } from '../language/write.js';
import { toClause } from '../model/tokenizer.js';
import type { Thing } from '../schemas/statement.js';
import { type LocationStatement, stateOf } from './location-statement.js';
import { uniformWords } from './scored-words.js';

/** Walkers cross a view within a minute, and a queue moves on within some: later, others may be there. */
const PEOPLE_APART_S = 300;
/** Cars stay at the kerb for an hour or so, and a car that parks anew in its street within that time is known by it. */
const VEHICLES_APART_S = 7_200;
/** By the class of the thing; a thing that does not move by itself was moved, however long ago. */
const APART_S: Readonly<Record<string, number | undefined>> = {
  person: PEOPLE_APART_S,
  animal: PEOPLE_APART_S,
  vehicle: VEHICLES_APART_S,
};

/**
 * @param seconds between the frames; null: it is not known, and nothing changes
 * @returns each statement of a move of a being or a vehicle between two places as two: that it came, and that it left
 */
export const farApart = (
  statements: readonly LocationStatement[],
  seconds: number | null,
): readonly LocationStatement[] =>
  seconds === null ? statements : statements.flatMap((one) => (mayBeOneMove(one, seconds) ? one : comeAndGone(one)));

function mayBeOneMove({ statement: { kind, things }, regions }: LocationStatement, seconds: number): boolean {
  const [thing] = things;
  const limit = thing === undefined ? undefined : APART_S[classOf(thing)];
  if (kind !== 'move' || limit === undefined || seconds < limit) return true;
  // One that is where one was has stayed, or has moved a little.
  const [before, after] = (['before', 'after'] as const).map((side) => boxesOf(regions, side));
  return before?.some((box) => after?.some((other) => boxDistance(box, other) === 0)) !== false || after?.length === 0;
}

const boxesOf = (regions: LocationStatement['regions'], side: Side): Box[] =>
  regions.filter((region) => region.side === side).map(({ box }) => box);

const comeAndGone = (moved: LocationStatement): LocationStatement[] => [
  endOf(moved, 'after', 'appear'),
  endOf(moved, 'before', 'disappear'),
];

/** The statement about the thing in one of the frames. */
function endOf(moved: LocationStatement, side: Side, kind: 'appear' | 'disappear'): LocationStatement {
  const regions = moved.regions.filter((region) => region.side === side);
  const value = thirdOf((regions[0] as LocationStatement['regions'][number]).box);
  const { probability } = moved;
  const place = { value, probability };
  const changed = { kind: { value: kind, probability }, place, way: null, regions };
  const [thing] = moved.statement.things as [Thing];
  const statement = stateOf(kind, { ...thing, definite: kind === 'disappear' }, place, true);
  const attention = moved.words.find((word) => word.role === 'noun')?.attention ?? null;
  const words = uniformWords(writeWords(statement), toClause(moved.words).score, attention);
  return { ...moved, statement, regions, fact: moved.fact && { ...moved.fact, ...changed }, words };
}
