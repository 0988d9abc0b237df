/**
 * The caption graph about one location: it sees the region crop of this location alone, in both directions of time. It
 * is one witness among others; events.ts decides what happened. The mean of both directions is antisymmetric
 * in time by construction (ADR 15).
 */
import { OTHER_SIDE, SIDES, type Side } from '../base/images.js';
import { softmax } from '../base/logistic.js';
import { type ChangeStatement, isChangeStatement } from '../language/plain.js';
import type { Role } from '../language/thing.js';
import type { CaptionOutput } from '../model/graph-io.js';
import type { BundleManifest } from '../model/manifest.js';
import type { Decoded } from '../model/naming.js';
import { toClause } from '../model/tokenizer.js';
import { reversedKind, SIDES_OF_KIND, type StatementKind } from '../schemas/kinds.js';
import type { LocationCrop, LocationStatement } from './location-statement.js';
import { decodedClauses, type ScoredWord, type WordAttention } from './scored-words.js';

/** The first clause of a run about a location. */
interface WitnessClause {
  readonly statement: ChangeStatement;
  /** of the pair as it came; the statement is about the exchanged pair if `reversed` */
  readonly kind: StatementKind;
  readonly reversed: boolean;
  readonly words: readonly ScoredWord[];
  /** noun and colour of the thing that each frame shows */
  readonly things: Readonly<Partial<Record<Side, Decoded>>>;
}

export interface Witness {
  /** probability of each kind of the manifest, 0..1; none of a graph that judges no kind */
  readonly kinds: Readonly<Record<string, number>>;
  readonly clauses: readonly WitnessClause[];
  /** of all words */
  readonly attention: WordAttention;
}

type Vocabulary = Pick<BundleManifest, 'vocabulary' | 'special' | 'kinds'>;

/**
 * @param forward of the caption graph on the crop. @param reversed the same with the frames exchanged
 * @param manifest of the bundle
 */
export function witnessOf(
  forward: CaptionOutput,
  reversed: CaptionOutput,
  { crop }: Pick<LocationCrop, 'crop'>,
  manifest: Vocabulary,
): Witness {
  const { kinds } = manifest;
  const shares = [forward, reversed].flatMap(({ kindLogits }, i) =>
    kindLogits === null ? [] : [sharesOf(kindLogits, kinds, i === 1)],
  );
  const mean = (kind: string): number => shares.reduce((sum, one) => sum + (one[kind] ?? 0), 0) / shares.length;
  const rows = forward.attention;
  const weights = (rows[0] ?? new Float32Array(0)).map(
    (_, i) => rows.reduce((sum, row) => sum + (row[i] as number), 0) / rows.length,
  );
  return {
    kinds: shares.length === 0 ? {} : Object.fromEntries(kinds.map((kind) => [kind, mean(kind)])),
    clauses: [clauseOf(forward, false, crop, manifest), clauseOf(reversed, true, crop, manifest)].flat(),
    attention: { weights, crops: [crop] },
  };
}

function sharesOf(logits: Float32Array, kinds: readonly string[], reversed: boolean): Record<string, number> {
  const shares = softmax(logits);
  return Object.fromEntries(kinds.map((kind, i) => [reversed ? reversedKind(kind) : kind, shares[i] as number]));
}

/** @returns the first clause; none if it is of another grammar */
function clauseOf(
  output: CaptionOutput,
  reversed: boolean,
  crop: LocationCrop['crop'],
  manifest: Vocabulary,
): WitnessClause[] {
  const [clause] = decodedClauses(output, [crop], manifest);
  if (!clause?.statement || !isChangeStatement(clause.statement)) return [];
  const { statement, words } = clause as typeof clause & { readonly statement: ChangeStatement };
  const kind = reversed ? reversedKind(statement.kind) : statement.kind;
  const things = SIDES.map((side) => [side, thingOn(reversed ? OTHER_SIDE[side] : side, statement)] as const);
  return [
    {
      ...{ statement, kind, reversed, words },
      things: Object.fromEntries(things.filter(([, thing]) => thing !== undefined)),
    },
  ];
}

/** The thing that a statement says one of its frames shows. */
function thingOn(side: Side, { kind, things }: ChangeStatement): Decoded | undefined {
  const sides: readonly Side[] = SIDES_OF_KIND[kind];
  const thing = kind === 'replace' ? things[side === 'before' ? 0 : 1] : things[0];
  return thing && sides.includes(side) ? { noun: thing.noun, colour: thing.colour } : undefined;
}

/** The attention of the last word with this role, else that of all words. */
export const attentionOf = ({ clauses, attention }: Witness, role: Role): WordAttention =>
  clauses.find(({ reversed }) => !reversed)?.words.findLast((word) => word.role === role)?.attention ?? attention;

/**
 * Statements of a bundle that names nothing: per location the first clause that its regions can show.
 * @param outputs one per crop
 */
export const decodedStatements = (
  crops: readonly LocationCrop[],
  outputs: readonly CaptionOutput[],
  manifest: Pick<Vocabulary, 'vocabulary' | 'special'>,
): LocationStatement[] =>
  crops.flatMap(({ crop, regions }, i) => {
    for (const { statement, words } of decodedClauses(outputs[i] as CaptionOutput, [crop], manifest)) {
      if (statement === null || !isChangeStatement(statement)) continue;
      const sides: readonly Side[] = SIDES_OF_KIND[statement.kind];
      const shown = regions.filter(({ side }) => sides.includes(side));
      if (new Set(shown.map(({ side }) => side)).size < sides.length) continue;
      return [{ fact: null, statement, regions: shown, words, probability: toClause(words).score }];
    }
    return [];
  });
