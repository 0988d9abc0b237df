/** Statements about the locations of a pair, as values: witness.ts and facts.ts make them. */
import type { Box } from '../base/images.js';
import type { ChangeStatement } from '../language/plain.js';
import { classOf, SOMETHING } from '../language/thing.js';
import type { CaptionOutput } from '../model/graph-io.js';
import type { Likely, LikelyClass } from '../model/naming.js';
import type { MapRegion, RegionCrop } from '../model/regions.js';
import type { StatementKind } from '../schemas/kinds.js';
import type { Statement } from '../schemas/statement.js';
import type { ScoredWord } from './scored-words.js';

export interface LocationFact {
  /** with the probability that the location changed in this way */
  readonly kind: { readonly value: StatementKind; readonly probability: number };
  readonly noun: Likely;
  /** of probability 0.05 or more, the most probable first */
  readonly nouns: readonly Likely[];
  /** the most probable; null: the bundle has no nouns of a class */
  readonly class: LikelyClass | null;
  /** null: no colour is probable enough */
  readonly colour: Likely | null;
  /** as `nouns` */
  readonly colours: readonly Likely[];
  /** SEVERAL: as many, or more */
  readonly count: { readonly value: number; readonly probability: number };
  /** where the thing is or was; null: of a move, or none is probable enough */
  readonly place: Likely | null;
  /** of a move: the way that the thing went; null: none is probable enough */
  readonly way: Likely | null;
  readonly regions: readonly MapRegion[];
}

export interface LocationStatement {
  /** null: of a bundle that names nothing */
  readonly fact: LocationFact | null;
  readonly statement: ChangeStatement;
  /** those that show the thing, on the sides that the kind needs */
  readonly regions: readonly MapRegion[];
  readonly words: readonly ScoredWord[];
  /** probability that the statement is true, 0..1 */
  readonly probability: number;
}

/** A statement of a judged event. */
export interface JudgedStatement extends LocationStatement {
  readonly fact: LocationFact;
}
export const isJudged = (statement: LocationStatement): statement is JudgedStatement => statement.fact !== null;

/** The words about a change. */
export interface Description {
  /** of the caption graph, seeing the strongest locations together; null: its words are not needed */
  readonly joint: CaptionOutput | null;
  /** boxes of the crops of `joint` */
  readonly crops: readonly Box[];
  /** the strongest first */
  readonly statements: readonly LocationStatement[];
}

export type LocationCrop = Pick<RegionCrop, 'crop' | 'regions'>;

/** As `value` of a count. */
export const SEVERAL = 4;

const MOVING_CLASSES: readonly string[] = ['person', 'vehicle', 'animal'];

/** Verbs that hold whether a thing moved, or left while another one came. */
const VERB_OF_EITHER = {
  appear: 'now',
  disappear: 'no longer there',
  move: 'moved or another',
  replace: 'been replaced',
} as const satisfies Record<StatementKind, string>;

/** Whether the statement leaves open that another thing is the one that was there before. */
export const isOpen = ({ kind, verb }: ChangeStatement): boolean => verb === VERB_OF_EITHER[kind];

/**
 * The statement that a thing came, left or moved.
 * @param where its place, or of a move the way that it went
 * @param open whether the sentence leaves open that it is another thing than the one that was there before
 */
export function stateOf(
  kind: StatementKind,
  thing: Statement['things'][number],
  where: Likely | null,
  open = false,
): ChangeStatement {
  const left = MOVING_CLASSES.includes(classOf(thing)) ? 'left' : 'gone';
  const sure = kind === 'appear' ? 'appeared' : kind === 'move' ? 'moved' : left;
  const verb = open && thing.noun !== SOMETHING ? VERB_OF_EITHER[kind] : sure;
  const [place, way] = kind === 'move' ? [null, where] : [where, null];
  return { kind, verb, things: [thing], place: place?.value ?? null, way: way?.value ?? null };
}
