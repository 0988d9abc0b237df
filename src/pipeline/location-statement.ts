/** Statements about the locations of a pair, as values: statements.ts makes them, facts.ts names their things. */
import type { Box, Side } from '../base/images.js';
import type { ChangeStatement } from '../language/plain.js';
import type { CaptionOutput } from '../model/graph-io.js';
import type { Likely, LikelyClass } from '../model/naming.js';
import type { MapRegion, RegionCrop } from '../model/regions.js';
import type { StatementKind } from '../schemas/comparison.js';
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
  /** 4: four or more */
  readonly count: { readonly value: number; readonly probability: number };
  /** where the thing is or was; null: of a move, or none is probable enough */
  readonly place: Likely | null;
  /** of a move: the way that the thing went; null: none is probable enough */
  readonly way: Likely | null;
  readonly regions: readonly MapRegion[];
}

/** A clause as the caption graph wrote it. */
interface DecodedClause {
  readonly statement: ChangeStatement;
  /** about the pair with its frames exchanged */
  readonly reversed: boolean;
}

export interface LocationStatement {
  /** positions of its crops among all: one, or those of both ends of a move */
  readonly at: readonly number[];
  /** none of a bundle that names nothing */
  readonly facts: readonly LocationFact[];
  readonly statement: ChangeStatement;
  /** those that show the thing, on the sides that the kind needs */
  readonly regions: readonly MapRegion[];
  readonly words: readonly ScoredWord[];
  /** of the run on this location alone; null of a caption graph that judges no kind */
  readonly kindLogits: Float32Array | null;
  /** clauses of the caption graph about the location, in both directions */
  readonly decoded: readonly DecodedClause[];
  /** class that the names of both frames show; the truth check does not leave such a clause out */
  readonly recognised?: LikelyClass['value'];
  /** probability that the location changed as the statement says, 0..1 (clause-probability.ts) */
  readonly probability: number;
}

/** The outputs of the caption graph for a change. */
export interface Description {
  /** seeing the strongest locations together */
  readonly joint: CaptionOutput;
  /** boxes of the crops of `joint` */
  readonly crops: readonly Box[];
  /** at most one per location, the strongest first */
  readonly statements: readonly LocationStatement[];
  /** the crops that may be the two ends of a move by their sides, and the kind logits of the run on both */
  readonly ends: readonly EndsOfMove[];
}

export interface EndsOfMove {
  /** positions of the crops among all */
  readonly before: number;
  readonly after: number;
  /** null: their names say that they are two things, or the caption graph judges no kind */
  readonly kindLogits: Float32Array | null;
}

export type LocationCrop = Pick<RegionCrop, 'crop' | 'regions'>;

/** Two vehicles of one location: the crop around both, and the positions of the crops of each among all. */
export interface Exchange<C> {
  readonly around: C;
  readonly before: number;
  readonly after: number;
}

/** Names of the crops as evidence about their locations; numbers are positions of the crops. */
export interface KnownNames<C = LocationCrop> {
  /** whether the thing of one crop before may be that of another crop after */
  mayBeOne(before: number, after: number): boolean;
  /** per frame, whether it surely shows a thing that changed */
  isThing(crop: number): Readonly<Record<Side, boolean>>;
  /** people and animals that both frames show once and alike: each moved, whatever the caption graph says */
  readonly beings: readonly Being[];
  /** locations at which one vehicle may have replaced another one; the caption graph decides whether it did */
  readonly exchanges: readonly Exchange<C>[];
}

/** A person or an animal that each frame shows once: the crops that show it; numbers are positions among all crops. */
export interface Being {
  /** its class: the widest noun below "something" */
  readonly word: LikelyClass['value'];
  readonly before: number;
  readonly after: number;
}
