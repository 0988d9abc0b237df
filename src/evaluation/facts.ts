/**
 * Whether a caption's facts are true. Every rate is defined in README.md beside this; the truth is the manifest's labels and
 * boxes, never the wording of its references (except for landmarks, which no box shows).
 */
import { type CaptionFacts, type Mention, readCaption } from './captions.js';
import { sameColour } from './colours.js';
import { matched } from './matching.js';
import { isPlural, type NounFit, nounFit } from './nouns.js';
import type { Pair, TrueObject } from './pairs.js';
import { landmarksOf, placeIsRight } from './places.js';
import { unionIou } from './pointing.js';
import { type Proportion, proportionOf } from './statistics.js';

/** What is judged: the sentence, and the kind that the model gave beside it (null where there is only a sentence). */
export interface Statement {
  readonly caption: string;
  readonly kind: string | null;
}

export interface Facts {
  /** all pairs: the sentence says that something changed exactly where something did */
  readonly saysChange: Proportion;
  /** changed pairs: the kind is the label's, or an equally true one (README) */
  readonly kind: Proportion;
  readonly kindStrict: Proportion;
  /** the thing named first truly changed, in the direction said; its noun or a wider one */
  readonly noun: Proportion;
  /** as `noun`, by the same noun or a synonym alone */
  readonly nounStrict: Proportion;
  /** as `noun`, where it is enough that both are people, vehicles, animals or other things */
  readonly nounClass: Proportion;
  /** of pairs with a labelled colour: the colour said of a thing that truly changed is its own; silence is not right */
  readonly colour: Proportion;
  /** as `colour`, of the sentences that do name a colour */
  readonly colourWhereSaid: Proportion;
  readonly place: Proportion;
  readonly placeWhereSaid: Proportion;
  /** appeared said of what disappeared, or the reverse */
  readonly inverted: Proportion;
  /** altered things (CLEVR): the new colour or material is the true one */
  readonly becomes: Proportion;
  /** of all that truly changed, how much is named anywhere in the sentence with its direction; "a man" names one man */
  readonly objectsNamed: Proportion;
  /** of all that the sentences claim about changed pairs, how much is true in noun and direction; told twice is true once */
  readonly claimsTrue: Proportion;
}

export function facts(pairs: readonly Pair[], statements: readonly Statement[]): Facts {
  const readings = new Map<string, CaptionFacts>();
  const read = (caption: string): CaptionFacts => {
    const known = readings.get(caption) ?? readCaption(caption);
    readings.set(caption, known);
    return known;
  };
  const judged = pairs.flatMap((pair, i) => {
    const statement = statements[i];
    if (pair.changed === null || statement === undefined) return [];
    return [judge(pair, statement, read(statement.caption))];
  });
  const rate = (pick: (j: Judgement) => boolean | null): Proportion =>
    proportionOf(judged.map(pick).filter((outcome) => outcome !== null));
  return {
    saysChange: rate((j) => j.saysChange),
    kind: rate((j) => j.kind),
    kindStrict: rate((j) => j.kindStrict),
    noun: rate((j) => j.noun),
    nounStrict: rate((j) => j.nounStrict),
    nounClass: rate((j) => j.nounClass),
    colour: rate((j) => j.colour),
    colourWhereSaid: rate((j) => (j.colourSaid ? j.colour : null)),
    place: rate((j) => j.place),
    placeWhereSaid: rate((j) => (j.placeSaid ? j.place : null)),
    inverted: rate((j) => j.inverted),
    becomes: rate((j) => j.becomes),
    objectsNamed: proportionOf(judged.flatMap((j) => j.named)),
    claimsTrue: proportionOf(judged.flatMap((j) => j.claims)),
  };
}

/** One pair's outcomes; null where the question does not arise. */
export interface Judgement {
  readonly said: CaptionFacts;
  readonly saysChange: boolean;
  readonly kind: boolean | null;
  readonly kindStrict: boolean | null;
  readonly noun: boolean | null;
  readonly nounStrict: boolean | null;
  readonly nounClass: boolean | null;
  readonly colour: boolean | null;
  readonly colourSaid: boolean;
  readonly place: boolean | null;
  readonly placeSaid: boolean;
  readonly inverted: boolean | null;
  readonly becomes: boolean | null;
  readonly named: readonly boolean[];
  readonly claims: readonly boolean[];
}

export function judge(pair: Pair, { caption, kind }: Statement, said = readCaption(caption)): Judgement {
  const objects = pair.changed ? pair.objects.filter((object) => object.noun !== null) : [];
  const kinds = trueKinds(pair);
  const first = said.mentions[0];
  const meant = first === undefined ? { fit: 'none' as NounFit, objects: [] } : whatIsMeant(first, objects);
  const asked = <T>(answer: T): T | null => (objects.length === 0 ? null : answer);
  const fitting = (...fits: NounFit[]) => asked(fits.includes(meant.fit));
  // What is asked of a pair depends on its labels alone; of things that fit what is said, those that can answer are meant.
  const answering = (label: 'colour' | 'where', right: (object: TrueObject) => boolean): boolean | null => {
    const labelled = objects.filter((object) => object[label] !== null);
    if (labelled.length === 0) return null;
    return first !== undefined && whatIsMeant(first, labelled).objects.some(right);
  };
  const altered = objects.filter((object) => object.becomes.length > 0);
  return {
    said,
    saysChange: said.verdict !== null && (said.verdict === 'change') === pair.changed,
    kind: pair.changed && kind !== null && kinds.length > 0 ? kinds.includes(kind) : null,
    kindStrict: pair.changed && kind !== null && kinds.length > 0 ? kinds[0] === kind : null,
    noun: fitting('same', 'wider'),
    nounStrict: fitting('same'),
    nounClass: fitting('same', 'wider', 'class'),
    colour: answering('colour', (object) => colourRight(first, object)),
    colourSaid: (first?.colours.length ?? 0) > 0,
    place: answering('where', (object) => placeRight(first, object, pair)),
    placeSaid: (first?.places.length ?? 0) > 0,
    inverted: inverted(first, objects),
    becomes:
      altered.length === 0 ? null : altered.some((object) => object.becomes.includes(first?.becomes ?? '')),
    named: matched(objects, said.mentions, (object, mention) => names(mention, object), namesUpTo),
    claims: objects.length === 0 ? [] : matched(said.mentions, objects, names, isToldUpTo),
  };
}

const names = (mention: Mention, object: TrueObject): boolean =>
  mention.direction === object.direction &&
  ['same', 'wider'].includes(nounFit(mention.noun, object.noun ?? ''));

/** How many things a mention can name: "the man" is one of them, "two men" may be any. */
const namesUpTo = (mention: Mention): number => (mention.plural ? Number.POSITIVE_INFINITY : 1);

/** How often a label can be told truly: one man once; several by their number or their boxes, and at least twice. */
const isToldUpTo = ({ noun, count, boxes }: TrueObject): number =>
  Math.max(isPlural(noun ?? '') ? 2 : 1, count, boxes.before.length, boxes.after.length);

/** The true objects that changed in the direction said and fit the noun best; none where not even the class fits. */
function whatIsMeant(
  mention: Mention,
  objects: readonly TrueObject[],
): { fit: NounFit; objects: TrueObject[] } {
  const candidates = objects.filter((object) => object.direction === mention.direction);
  for (const fit of ['same', 'wider', 'class'] as const) {
    const matching = candidates.filter((object) => nounFit(mention.noun, object.noun ?? '') === fit);
    if (matching.length > 0) return { fit, objects: matching };
  }
  return { fit: 'none', objects: [] };
}

/** A colour is said, and every colour said is true of the thing. */
const colourRight = (mention: Mention | undefined, object: TrueObject): boolean =>
  mention !== undefined &&
  mention.colours.length > 0 &&
  object.colour !== null &&
  mention.colours.every((colour) => sameColour(colour, object.colour ?? ''));

function placeRight(mention: Mention | undefined, object: TrueObject, pair: Pair): boolean {
  if (mention === undefined) return false;
  return placeIsRight(mention.places, { ...object.boxes, landmarks: landmarksAt(object, pair) });
}

/** Kept, since constants.ts judges hundreds of sentences of the same pair. */
const LANDMARKS = new WeakMap<TrueObject, ReadonlySet<string>>();
function landmarksAt(object: TrueObject, { references }: Pair): ReadonlySet<string> {
  const landmarks = LANDMARKS.get(object) ?? landmarksOf([object.where ?? '', ...references]);
  LANDMARKS.set(object, landmarks);
  return landmarks;
}

const OPPOSITE: Readonly<Record<string, string>> = { appear: 'disappear', disappear: 'appear' };

/** null where nothing appeared or disappeared, so that nothing can be inverted. */
function inverted(first: Mention | undefined, objects: readonly TrueObject[]): boolean | null {
  if (!objects.some((object) => object.direction === 'appear' || object.direction === 'disappear'))
    return null;
  const opposite = OPPOSITE[first?.direction ?? ''];
  if (first === undefined || opposite === undefined) return false;
  // Things of that name, if there are any; else whatever changed.
  const alike = objects.filter((object) =>
    ['same', 'wider'].includes(nounFit(first.noun, object.noun ?? '')),
  );
  const pool = alike.length > 0 ? alike : objects;
  return pool.some((o) => o.direction === opposite) && !pool.some((o) => o.direction === first.direction);
}

const KIND_OF: Readonly<Record<string, string>> = {
  color: 'replace',
  material: 'replace',
  add: 'appear',
  drop: 'disappear',
};

/**
 * The label's kind first, then those as true: `multi` of things that all did the same is that, too; where one thing stands in
 * the place of another (boxes overlap by a third), `replace` and `multi` say the same.
 */
export function trueKinds(pair: Pair): string[] {
  if (pair.kind === null) return [];
  const kinds = new Set([KIND_OF[pair.kind] ?? pair.kind]);
  const directions = new Set(pair.objects.map((object) => object.direction));
  const [only] = directions;
  if (pair.kind === 'multi' && directions.size === 1 && only) kinds.add(only);
  if (pair.objects.length > 1 && (pair.kind === 'multi' || pair.kind === 'replace')) {
    const gone = pair.objects
      .filter((object) => object.direction === 'disappear')
      .flatMap((o) => o.boxes.before);
    const come = pair.objects.filter((object) => object.direction === 'appear').flatMap((o) => o.boxes.after);
    const swapped = gone.some((a) => come.some((b) => unionIou([a], [b]) > 1 / 3));
    if (pair.kind === 'replace') kinds.add('multi');
    else if (swapped) kinds.add('replace');
  }
  return [...kinds];
}
