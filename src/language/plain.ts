/** Statements that name no thing, statements of unchanged scenes and of tampering, and the words that deny a change. */
import type { Box } from '../base/images.js';
import type { StatementKind } from '../schemas/kinds.js';
import type { Statement } from '../schemas/statement.js';
import { thirdOf } from './place.js';
import { tableOf } from './table.js';
import { SOMETHING } from './thing.js';

/** A statement about one location, of a kind that the frames of its regions can show. */
export type ChangeStatement = Statement & { readonly kind: StatementKind };

const PLAIN_VERBS: Readonly<Record<StatementKind, string>> = {
  appear: 'appeared',
  disappear: 'disappeared',
  move: 'moved',
  replace: 'been replaced',
};
const isKind = (kind: string): kind is StatementKind => Object.hasOwn(PLAIN_VERBS, kind);

export const isChangeStatement = (statement: Statement): statement is ChangeStatement => isKind(statement.kind);

/**
 * A statement of a change of which only the kind and the location are known.
 * @param kind any other than those of one thing, and not `multi`: the statement says that something has changed
 * @param box of the strongest region, fractions of the frame; undefined: no place is stated
 */
export function plainStatement(kind: string, box: Box | undefined): Statement {
  const place = box === undefined ? null : thirdOf(box);
  if (kind === 'multi') return { kind: 'change', verb: 'several', things: [], place, way: null };
  const things = [{ noun: SOMETHING, colour: null, count: 1, definite: false }];
  return isKind(kind)
    ? { kind, verb: PLAIN_VERBS[kind], things, place, way: null }
    : { kind: 'change', verb: 'changed', things, place, way: null };
}

/**
 * @param nuisance name in the manifest, or `rest`: a part of the frame is lost, or `excluded`: zones or areas exclude
 *   all that has changed; undefined, or a name that has no sentence: nothing has changed
 */
export const unchangedStatement = (nuisance: string | undefined): Statement => ({
  ...{ kind: 'none', things: [], place: null, way: null },
  verb: nuisance !== undefined && Object.hasOwn(tableOf('en').sentences.none ?? {}, nuisance) ? nuisance : 'nothing',
});

/** @param tamper a kind of tampering or loss, as TAMPERS; any other one: the camera has been tampered with */
export const tamperStatement = (tamper: string): Statement => ({
  ...{ kind: 'tamper', things: [], place: null, way: null },
  verb: Object.hasOwn(tableOf('en').sentences.tamper ?? {}, tamper) ? tamper : 'tampered',
});

/** Whether a sentence states that the scene is unchanged; these are all the forms of the captions' grammar. */
export const deniesChange = (sentence: string): boolean =>
  /^(nothing|no|only|everything|there (is|are) no)\b|^the scene is the same\b/.test(sentence);

/** Words without a visible referent: their attention has no meaning, so their heatmaps stay empty. */
const FUNCTION_WORDS = new Set(
  'a an the there is are has have been by on in at to of and now no longer but except from with than'.split(' '),
);
export const isFunctionWord = (word: string): boolean => FUNCTION_WORDS.has(word);
