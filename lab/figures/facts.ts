/**
 * Scorer of the facts of captions. README.md defines every rate. The truth is the labels and boxes of the pairs,
 * never the wording of their references, except for landmarks, which no box shows.
 */
import { type CaptionFacts, type Mention, readCaption } from '../../src/language/people/captions.js';
import { sameColour } from '../../src/language/people/colours.js';
import { isPlural, type NounFit, nounFit } from '../../src/language/people/nouns.js';
import { landmarksOf } from '../../src/language/people/places.js';
import { matched } from './matching.js';
import type { Pair, TrueObject } from './pairs.js';
import { isPlaceRight } from './places.js';
import { unionIou } from './pointing.js';
import { type Proportion, proportionOf } from './statistics.js';
import { agreesWithKind, namesMainThing, namesNothing } from './whole-answers.js';

/** A sentence, and the kind that the model gave with it; null if there is only a sentence. */
export interface Statement {
  readonly caption: string;
  readonly kind: string | null;
}

/** The outcomes of one pair; null if the labels of the pair cannot answer the question. */
interface Assessment {
  readonly saysChange: boolean;
  readonly kind: boolean | null;
  readonly kindStrict: boolean | null;
  readonly noun: boolean | null;
  readonly nounStrict: boolean | null;
  readonly nounClass: boolean | null;
  readonly colour: boolean | null;
  readonly colourStated: boolean;
  readonly place: boolean | null;
  readonly placeStated: boolean;
  readonly inverted: boolean | null;
  readonly becomes: boolean | null;
  /** per true object */
  readonly named: readonly boolean[];
  /** per mention of the sentence */
  readonly claims: readonly boolean[];
  /** per clause of the sentence: all its claims are true */
  readonly clauses: readonly boolean[];
  readonly kindAgrees: boolean | null;
  readonly whollyTrue: boolean | null;
  readonly useless: boolean | null;
  readonly open: boolean | null;
}

type Outcomes = (assessment: Assessment) => readonly (boolean | null)[];

const QUESTIONS = {
  /** all pairs: the sentence states a change exactly if there is one */
  saysChange: (a) => [a.saysChange],
  /** changed pairs: the kind is that of the label, or an equally true one */
  kind: (a) => [a.kind],
  kindStrict: (a) => [a.kindStrict],
  /** the thing named first truly changed in the stated direction: by its noun or a wider one */
  noun: (a) => [a.noun],
  /** by the same noun or a synonym */
  nounStrict: (a) => [a.nounStrict],
  /** by the class: person, vehicle, animal or object */
  nounClass: (a) => [a.nounClass],
  /** pairs with a labelled colour: the stated colour is that of a thing that truly changed; no colour is wrong */
  colour: (a) => [a.colour],
  /** a thing of the stated class changed so: no label has the colour of another one */
  colourWhereSaid: (a) => [a.colourStated && a.nounClass ? a.colour : null],
  place: (a) => [a.place],
  placeWhereSaid: (a) => [a.placeStated ? a.place : null],
  /** "appeared" of a thing that disappeared, or the reverse */
  inverted: (a) => [a.inverted],
  /** altered things (CLEVR): the new colour or material is the true one */
  becomes: (a) => [a.becomes],
  /** per thing that truly changed: the sentence names it with its direction; "a man" names one man */
  objectsNamed: (a) => a.named,
  /** per claim about a changed pair: noun and direction are true; a repeated claim is true once */
  claimsTrue: (a) => a.claims,
  /** per changed pair with a first, second or third clause: all its claims are true */
  firstClauseTrue: (a) => a.clauses.slice(0, 1),
  secondClauseTrue: (a) => a.clauses.slice(1, 2),
  thirdClauseTrue: (a) => a.clauses.slice(2, 3),
  /** changed pairs whose sentence has a statement: the kind is that of the statements */
  kindAgrees: (a) => [a.kindAgrees],
  /** changed pairs: every claim is true, its number too, the main thing is named, and the kind agrees */
  whollyTrue: (a) => [a.whollyTrue],
  /** changed pairs: the sentence names no thing */
  useless: (a) => [a.useless],
  /** changed pairs whose sentence has a statement: its first one leaves open which thing it is */
  open: (a) => [a.open],
} satisfies Record<string, Outcomes>;

export type Facts = Readonly<Record<keyof typeof QUESTIONS, Proportion>>;

/** Answers about changed pairs with labelled objects, and the clauses in them that state something false. */
export interface FalseClauses {
  readonly answers: number;
  readonly clauses: number;
  /** null without answers */
  readonly perAnswer: number | null;
}

/** @param statements one per pair */
export function falseClauses(pairs: readonly Pair[], statements: readonly Statement[]): FalseClauses {
  const answers = assessments(pairs, statements).filter(({ noun }) => noun !== null);
  const clauses = answers.flatMap((answer) => answer.clauses.filter((right) => !right)).length;
  return { answers: answers.length, clauses, perAnswer: answers.length === 0 ? null : clauses / answers.length };
}

/** @param statements one per pair */
export function facts(pairs: readonly Pair[], statements: readonly Statement[]): Facts {
  const assessed = assessments(pairs, statements);
  const rates = Object.entries<Outcomes>(QUESTIONS).map(([name, outcomes]) => [
    name,
    proportionOf(assessed.flatMap(outcomes).filter((outcome) => outcome !== null)),
  ]);
  return Object.fromEntries(rates) as Facts;
}

function assessments(pairs: readonly Pair[], statements: readonly Statement[]): Assessment[] {
  const readings = new Map<string, CaptionFacts>();
  const read = (caption: string): CaptionFacts => {
    const known = readings.get(caption) ?? readCaption(caption);
    readings.set(caption, known);
    return known;
  };
  return pairs.flatMap((pair, i) => {
    const statement = statements[i];
    if (pair.changed === null || statement === undefined) return [];
    return [assess(pair, statement, read(statement.caption))];
  });
}

export function assess(pair: Pair, { caption, kind }: Statement, read = readCaption(caption)): Assessment {
  const objects = pair.changed ? pair.objects.filter((object) => object.noun !== null) : [];
  const kinds = trueKinds(pair);
  const first = read.mentions[0];
  const meant = first === undefined ? { fit: 'none' as NounFit, objects: [] } : meantObjects(first, objects);
  const fitting = (...fits: NounFit[]) => (objects.length === 0 ? null : fits.includes(meant.fit));
  // The labels alone decide which questions a pair answers. Of the objects that fit the mention, only labelled ones
  // count.
  const answering = (label: 'colour' | 'where', right: (object: TrueObject) => boolean): boolean | null => {
    const labelled = objects.filter((object) => object[label] !== null);
    if (labelled.length === 0) return null;
    return first !== undefined && meantObjects(first, labelled).objects.some(right);
  };
  const claims = objects.length === 0 ? [] : matched(read.mentions, objects, names, capacityOfObject);
  const altered = objects.filter((object) => object.becomes.length > 0);
  const named = matched(objects, read.mentions, (object, mention) => names(mention, object), capacityOfMention);
  const hasKind = pair.changed && kind !== null && kinds.length > 0;
  const kindAgrees = pair.changed ? agreesWithKind(caption, kind, read) : null;
  const isTrue = (mention: Mention, i: number): boolean => claims[i] === true && isNumberTrue(mention, objects);
  return {
    saysChange: read.verdict !== null && (read.verdict === 'change') === pair.changed,
    kind: hasKind ? kinds.includes(kind) : null,
    kindStrict: hasKind ? kinds[0] === kind : null,
    noun: fitting('same', 'wider'),
    nounStrict: fitting('same'),
    nounClass: fitting('same', 'wider', 'class'),
    colour: answering('colour', (object) => isColourRight(first, object)),
    colourStated: first !== undefined && statesColour(first),
    place: answering('where', (object) =>
      isPlaceRight(first?.places ?? [], { ...object.boxes, landmarks: landmarksAt(object, pair) }),
    ),
    placeStated: (first?.places.length ?? 0) > 0,
    inverted: isInverted(first, objects),
    becomes: altered.length === 0 ? null : altered.some((object) => object.becomes.includes(first?.becomes ?? '')),
    named,
    claims,
    clauses: claims.length === 0 ? [] : clausesTrue(claims, read),
    kindAgrees,
    whollyTrue:
      objects.length === 0
        ? null
        : kindAgrees !== false && read.mentions.every(isTrue) && namesMainThing(objects, named),
    useless: objects.length === 0 ? null : namesNothing(read.mentions),
    open: objects.length === 0 || first === undefined ? null : first.open,
  };
}

/** @param claims whether each mention is true */
function clausesTrue(claims: readonly boolean[], { clauses }: CaptionFacts): boolean[] {
  let from = 0;
  return clauses.map((length) => {
    const group = claims.slice(from, from + length);
    from += length;
    return group.every(Boolean);
  });
}

const namesNoun = (mention: Mention, object: TrueObject): boolean =>
  ['same', 'wider'].includes(nounFit(mention.noun, object.noun ?? ''));

/** Whether a mention names the thing, by its noun or a wider one, with its direction. */
export const names = (mention: Mention, object: TrueObject): boolean =>
  changedSo(mention, object) && namesNoun(mention, object);

/** Whether the thing changed as stated. Open words hold for a move, and for another thing that came. */
function changedSo({ direction, open }: Mention, object: TrueObject): boolean {
  if (direction === object.direction) return true;
  return open && object.direction === (direction === 'move' ? 'appear' : 'move');
}

/** The number of objects that a mention can name: "the man" names one, "two men" any number. */
const capacityOfMention = (mention: Mention): number => (mention.plural ? Number.POSITIVE_INFINITY : 1);

/** The number of claims that one label makes true: its count or its number of boxes, and at least 2 for a plural. */
export const capacityOfObject = ({ noun, count, boxes }: TrueObject): number =>
  Math.max(isPlural(noun ?? '') ? 2 : 1, count, boxes.before.length, boxes.after.length);

/** Whether there are several things if the mention is plural. Numbers above one are not compared. */
export const isNumberTrue = (mention: Mention, objects: readonly TrueObject[]): boolean =>
  !mention.plural ||
  objects.filter((object) => names(mention, object)).reduce((total, one) => total + capacityOfObject(one), 0) > 1;

/** The true objects that changed in the stated direction and fit the noun best; none if not even the class fits. */
function meantObjects(mention: Mention, objects: readonly TrueObject[]): { fit: NounFit; objects: TrueObject[] } {
  const candidates = objects.filter((object) => changedSo(mention, object));
  for (const fit of ['same', 'wider', 'class'] as const) {
    const matching = candidates.filter((object) => nounFit(mention.noun, object.noun ?? '') === fit);
    if (matching.length > 0) return { fit, objects: matching };
  }
  return { fit: 'none', objects: [] };
}

/** At least one colour is stated, and every one of all the things, and one of each thing's, is true of the object. */
const isColourRight = (mention: Mention | undefined, object: TrueObject): boolean => {
  if (mention === undefined || !statesColour(mention)) return false;
  const isTrue = (colour: string): boolean => object.colour !== null && sameColour(colour, object.colour);
  return mention.colours.every(isTrue) && (mention.eachColour.length === 0 || mention.eachColour.some(isTrue));
};
const statesColour = ({ colours, eachColour }: Mention): boolean => colours.length + eachColour.length > 0;

/** A cache, because constants.ts assesses hundreds of sentences of the same pair. */
const LANDMARKS = new WeakMap<TrueObject, ReadonlySet<string>>();
function landmarksAt(object: TrueObject, { references }: Pair): ReadonlySet<string> {
  const landmarks = LANDMARKS.get(object) ?? landmarksOf([object.where ?? '', ...references]);
  LANDMARKS.set(object, landmarks);
  return landmarks;
}

const OPPOSITE: Readonly<Record<string, string>> = { appear: 'disappear', disappear: 'appear' };

/** @returns null if nothing appeared or disappeared, so that no sentence can be inverted */
function isInverted(first: Mention | undefined, objects: readonly TrueObject[]): boolean | null {
  const has = (pool: readonly TrueObject[], direction: string) => pool.some((o) => o.direction === direction);
  if (!has(objects, 'appear') && !has(objects, 'disappear')) return null;
  const opposite = OPPOSITE[first?.direction ?? ''];
  if (first === undefined || opposite === undefined) return false;
  // Objects with the stated noun, or all objects if none has it.
  const alike = objects.filter((object) => namesNoun(first, object));
  const pool = alike.length > 0 ? alike : objects;
  return has(pool, opposite) && !has(pool, first.direction);
}

const KIND_OF_CLEVR: Readonly<Record<string, string>> = {
  color: 'replace',
  material: 'replace',
  add: 'appear',
  drop: 'disappear',
};

/**
 * The kind of the label, then the kinds that are as true. `multi` of objects that all changed in one direction is
 * that direction too. `replace` and `multi` are the same if one object stands where another stood (boxes overlap by a
 * third).
 */
export function trueKinds(pair: Pair): string[] {
  if (pair.kind === null) return [];
  const kinds = new Set([KIND_OF_CLEVR[pair.kind] ?? pair.kind]);
  const directions = new Set(pair.objects.map((object) => object.direction));
  const [only] = directions;
  if (pair.kind === 'multi' && directions.size === 1 && only) kinds.add(only);
  if (pair.objects.length > 1 && pair.kind === 'replace') kinds.add('multi');
  if (pair.objects.length > 1 && pair.kind === 'multi' && isSwap(pair.objects)) kinds.add('replace');
  return [...kinds];
}

function isSwap(objects: readonly TrueObject[]): boolean {
  const gone = objects.flatMap((o) => (o.direction === 'disappear' ? o.boxes.before : []));
  const come = objects.flatMap((o) => (o.direction === 'appear' ? o.boxes.after : []));
  return gone.some((a) => come.some((b) => unionIou([a], [b]) > 1 / 3));
}
