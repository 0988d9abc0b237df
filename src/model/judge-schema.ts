/**
 * Schema of `judge` of a bundle's manifest: five logistic regressions (pipeline/judge.ts). They decide which people
 * there are, which thing of one frame is that of the other, and which events are true. `training.fits judge` fits them.
 * Their columns are those of the rows that the pipeline measures, so that a judge of other columns is refused.
 */
import { type Static, Type } from 'typebox';

/** The columns for a box of the detector: that it shows a person who changed. */
const PERSON = ['score', 'fill', 'inside', 'separate', 'person', 'vehicle', 'nothing', 'decodedPerson'] as const;
/** The columns for a thing of each frame: that they are one, as they look and lie. */
const ALIKE = [
  ...['class', 'conflict', 'nouns', 'paint', 'bands', 'area', 'distance', 'iou', 'overlap', 'replace'],
] as const;
/** The same beside their rivals. */
const LINK = ['alike', 'gap', 'better'] as const;
/** The columns for an event of either kind: that it is true. */
const EVENT = [
  ...['score', 'area', 'relative', 'nothing', 'personShare', 'vehicleShare', 'objectShare', 'animalShare'],
  ...['saidKind', 'saidMove', 'saidReplace', 'clauses', 'rival', 'paint', 'bands'],
  ...['part', 'behind', 'near', 'filled', 'edge'],
] as const;
/** The columns for a thing that only one frame shows. */
const SINGLE = [...EVENT, 'isAppearance'] as const;
/** The columns for one that both frames show. */
const MOVE = [...EVENT, 'link', 'nouns', 'iou', 'grown'] as const;

export const strict = { additionalProperties: false };
const Weight = Type.Number();
const Level = Type.Number({ minimum: 0, maximum: 1 });

export const linearOf = <C extends string>(columns: readonly C[]) =>
  Type.Object(
    {
      weights: Type.Object(
        Object.fromEntries(columns.map((name) => [name, Weight])) as Record<C, typeof Weight>,
        strict,
      ),
      offset: Weight,
    },
    strict,
  );

/**
 * Boosted trees (Friedman, "Greedy function approximation: a gradient boosting machine", 2001). A node is a leaf with
 * its log-odds, or a column, a level, and the positions of the nodes for values up to the level and above it.
 */
export const treesOf = <C extends string>(columns: readonly C[]) => {
  const position = Type.Integer({ minimum: 1 });
  const column = Type.Unsafe<C>(Type.Union(columns.map((name) => Type.Literal(name))));
  const node = Type.Union([Weight, Type.Tuple([column, Type.Number(), position, position])]);
  return Type.Object({ trees: Type.Array(Type.Array(node, { minItems: 1 })), offset: Weight }, strict);
};

export const JudgeSchema = Type.Object(
  {
    person: linearOf(PERSON),
    alike: linearOf(ALIKE),
    link: linearOf(LINK),
    single: linearOf(SINGLE),
    move: linearOf(MOVE),
    levels: Type.Object(
      {
        /** least probability of a person, of a link, and of a move; below it the ends of the link left and came */
        person: Level,
        link: Level,
        move: Level,
        /** least probability of an event that is stated although another thing could be the one that was there */
        identity: Level,
        /** least probability of an event whose kind is stated, of a further one in a sentence, and of "others" */
        known: Level,
        stated: Level,
        others: Level,
      },
      strict,
    ),
  },
  strict,
);
export type JudgeManifest = Static<typeof JudgeSchema>;

/** Evidence about one box, link or event by the name of its column. */
export type PersonRow = Readonly<Record<(typeof PERSON)[number], number>>;
export type AlikeRow = Readonly<Record<(typeof ALIKE)[number], number>>;
export type LinkRow = Readonly<Record<(typeof LINK)[number], number>>;
export type EventRow = Readonly<Record<(typeof SINGLE | typeof MOVE)[number], number>>;
