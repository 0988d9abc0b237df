/** The order of the statements of a sentence, and the parts that it omits. Pure. */
import type { Statement } from '../schemas/statement.js';
import { tableOf } from './table.js';
import { classOf } from './thing.js';

/** Verb of a statement about further things of the sort that another one names: "others have moved". */
export const OTHERS = 'others';

/** Verbs of objects that people left or took. */
const LEFT_OR_TAKEN: ReadonlySet<string> = new Set(['left behind', 'removed']);

/** The order in a sentence: things left or taken, things that came, went or were replaced, moves, other things. */
export const newsRank = ({ kind, verb }: Pick<Statement, 'kind' | 'verb'>): number =>
  verb === OTHERS ? 3 : kind === 'move' ? 2 : LEFT_OR_TAKEN.has(verb) ? 0 : 1;

/**
 * The statement about things beside the stated ones.
 * @param thing a stated thing of the same sort
 * @param count of the others; null: it is not known
 * @returns null if no sentence says so of the kind
 */
export function othersStatement(
  kind: Statement['kind'],
  { noun }: Pick<Statement['things'][number], 'noun'>,
  count: number | null,
): Statement | null {
  if (tableOf('en').others[kind] === undefined) return null;
  const others = { noun, colour: null, count: count === 1 ? 1 : null, definite: false };
  return { kind, verb: OTHERS, things: [others], place: null, way: null };
}

/**
 * The statements without "in the middle", unless another statement names a thing of the same class at another place, or
 * the verb needs a place.
 */
export const withUsefulPlaces = (statements: readonly Statement[]): Statement[] =>
  statements.map((one, i) => {
    if (one.place !== MIDDLE || tableOf('en').sentences[one.kind]?.[one.verb]?.needs === 'place') return one;
    const isAmbiguous = statements.some(
      ({ place, things }, k) =>
        k !== i && place !== null && place !== MIDDLE && things.some((thing) => isLike(thing, one)),
    );
    return isAmbiguous ? one : { ...one, place: null };
  });

const MIDDLE = 'in the middle';

const isLike = (thing: Statement['things'][number], { things }: Statement): boolean =>
  things.some((one) => classOf(one) === classOf(thing));
