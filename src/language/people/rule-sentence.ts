/**
 * Sentence of a severity rule (`when`): things, what became of them, and a zone: "a person or a red car has appeared at
 * the gate". It is read strictly, because a word that is skipped would make the rule hold for more than it says. Pure.
 */
import type { FilterKind } from '../../schemas/kinds.js';
import { COLOUR_PHRASES, canonicalColour } from './colours.js';
import { NOUN_FORMS } from './nouns.js';

/** The part of a zone that a sentence can name. */
interface NamedZone {
  readonly id: string;
  readonly name: string | null;
  readonly type: string;
}

/** A thing of a rule's sentence. */
export interface RuleThing {
  /** canonical noun of the lexicon; null: any thing */
  readonly noun: string | null;
  /** canonical; null: any colour */
  readonly colour: string | null;
}

/** The meaning of a rule's sentence. Plain JSON. */
export interface RuleSentence {
  /** any of them, at least one */
  readonly things: readonly RuleThing[];
  /** what became of them; stay: it is there for `seconds`; visit: it came and went; null: any change */
  readonly kind: FilterKind | 'stay' | 'visit' | null;
  /** of a stay alone: it is longer */
  readonly seconds?: number;
  /** ids of the include zones with the name that the sentence ends with; null: anywhere */
  readonly zones: readonly string[] | null;
}

/** Whether a sentence is about visits; the others are about changes. */
export const isAboutVisits = ({ kind }: RuleSentence): boolean => kind === 'stay' || kind === 'visit';

/** A duration makes a sentence one about a stay. */
const LONGER = / (?:for )?(?:longer|more) than (\d+(?:\.\d+)?) ?(s|sec|seconds?|min|minutes?|h|hours?)(?= |$)/;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
const STAY =
  /(?: has| have| is| are)? (?:stay(?:s|ed)?|stands?|stood|standing|waits?|waited|waiting|been|there)(?: there)?$/;

/** The forms of a verb at the end of the sentence. The first that fits counts, so "been left" is before "left". */
const VERBS: readonly (readonly [kind: FilterKind | 'visit', form: RegExp])[] = [
  ['visit', /(?: has| have)? (?:come|comes|came|arrived?|arrives)(?: in)? and (?:left|leaves?|gone|goes|go|went)$/],
  ['object_left', / (?:(?:has|have) been|is|are|was|were) left(?: behind)?$/],
  ['object_removed', / (?:(?:has|have) been|is|are|was|were) (?:removed|taken|stolen)(?: away)?$/],
  ['appear', / (?:has|have) been (?:delivered|placed|added|brought|parked)$/],
  ['replace', / (?:(?:has|have) been|is|are) replaced$/],
  ['disappear', / (?:is|are) (?:gone|missing|no longer there)$/],
  [
    'disappear',
    /(?: has| have)? (?:just )?(?:left|leaves?|gone|disappear(?:ed|s)?|departed|departs?|(?:driven|walked|moved) (?:away|off))$/,
  ],
  ['move', /(?: has| have| is| are)? (?:just )?(?:been )?(?:moved|moves|moving|shifted|walked|driven)$/],
  [
    'appear',
    /(?: has| have)? (?:just )?(?:appear(?:ed|s)?|arrived?|arrives|parked|come|comes|entered|enters?|come in|driven up)$/,
  ],
  ['appear', / (?:is|are) (?:now )?there(?: now)?$/],
];
const PREPOSITION =
  /^(.*?) (?:in front of|next to|close to|in|on|at|by|near|behind|beside|inside|outside|into|onto|from)(?: the)?$/;
const DETERMINER = /^(?:a|an|the|any|some|one|another) /;
const CLOTHES =
  /^(.+?) (?:in|wearing)(?: an?)? (.+?)(?: (?:clothes|coat|jacket|shirt|top|vest|dress|hoodie|trousers))?$/;
const ANY_THING = /^(?:something|anything)$/;
const ANY_PERSON = /^(?:anyone|anybody)$/;

const EXPECTED = 'expected one such as "a person or a red car has appeared at NAME OF A ZONE"';

/**
 * @param zones of the camera; only include zones with a name can be in a sentence
 * @returns the meaning, or the fault: the words that are not known, and an example
 */
export function readRuleSentence(
  sentence: string,
  zones: readonly NamedZone[],
): { readonly said: RuleSentence } | { readonly fault: string } {
  const text = folded(sentence);
  const longer = LONGER.exec(text);
  const place = placeOf(text.replace(LONGER, ''), zones);
  const verb =
    longer === null
      ? VERBS.find(([, form]) => form.test(place.rest))
      : STAY.test(place.rest)
        ? (['stay', STAY] as const)
        : undefined;
  const subject = verb === undefined ? place.rest : place.rest.replace(verb[1], '');
  if (longer !== null && verb === undefined) {
    return { fault: `is ${JSON.stringify(sentence)}, expected one such as "a person has stayed longer than 60 s"` };
  }
  const things: RuleThing[] = [];
  for (const part of subject.split(/ or |, ?(?:or )?/)) {
    const thing = thingOf(part.trim());
    if (thing === null) {
      return { fault: `${unknownIn(sentence, text, part.trim(), zones)} not known; ${EXPECTED}` };
    }
    things.push(thing);
  }
  const seconds = longer === null ? {} : { seconds: Number(longer[1]) * (SECONDS[longer[2]?.[0] ?? 's'] ?? 1) };
  return { said: { things, kind: verb?.[0] ?? null, ...seconds, zones: place.zones } };
}

const folded = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[.!]+$/, '')
    .trim();

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}-]+/gu) ?? [];

/** @returns the words of a form, with their endings: of `appear(?:ed|s)?` appear, appeared and appears */
const wordsOfForm = ({ source }: RegExp): string[] => {
  const endings = [...source.matchAll(/([a-z]+)\(\?:([a-z|]+)\)/g)].flatMap(([, stem = '', ends = '']) =>
    ends.split('|').map((end) => stem + end),
  );
  const optional = [...source.matchAll(/([a-z]+)[a-z]\?/g)].map(([, stem = '']) => stem);
  return [...endings, ...optional, ...(source.match(/[a-z]+/g) ?? [])];
};

/** All words that some sentence may have, those of the zones' names aside. */
const KNOWN_WORDS: ReadonlySet<string> = new Set([
  ...[...VERBS.map(([, form]) => form), STAY, PREPOSITION, DETERMINER, CLOTHES, ANY_THING, ANY_PERSON].flatMap(
    wordsOfForm,
  ),
  ...[...COLOUR_PHRASES, ...NOUN_FORMS.keys(), 'or'].flatMap(wordsOf),
]);

/**
 * @param thing the part that is not known; the whole text, if it has no verb
 * @returns the words, the thing or the sentence that is not known, with a verb
 */
function unknownIn(sentence: string, text: string, thing: string, zones: readonly NamedZone[]): string {
  const names = new Set(zones.flatMap(({ name }) => wordsOf(folded(name ?? ''))));
  const words = wordsOf(thing);
  const unknown = [...new Set(words)].filter((word) => !KNOWN_WORDS.has(word) && !names.has(word));
  const quoted = unknown.map((word) => JSON.stringify(word)).join(', ');
  if (unknown.length > 0 && words.length > 1) {
    return unknown.length === 1 ? `has the word ${quoted}, which is` : `has the words ${quoted}, which are`;
  }
  return thing === text
    ? `is ${JSON.stringify(sentence)}, which is`
    : `has the thing ${JSON.stringify(thing)}, which is`;
}

/** The longest name of a zone that the text ends with, behind a preposition or with one of its own. */
function placeOf(text: string, zones: readonly NamedZone[]) {
  const names = zones
    .filter(({ type, name }) => type === 'include' && name !== null)
    .map(({ name }) => folded(name as string))
    .filter((name) => name !== '' && text.endsWith(` ${name}`))
    .sort((a, b) => b.length - a.length);
  for (const name of names) {
    const before = text.slice(0, -name.length).trimEnd();
    // "behind the shed" is a place in full; "shed" is one behind a preposition.
    const rest = PREPOSITION.exec(before)?.[1] ?? (PREPOSITION.test(`x ${firstWords(name)}`) ? before : undefined);
    if (rest === undefined) continue;
    const named = zones.filter((zone) => zone.type === 'include' && zone.name !== null && folded(zone.name) === name);
    return { rest, zones: named.map(({ id }) => id) };
  }
  return { rest: text, zones: null };
}

/** The words of a name up to its first noun: "in front of the" of "in front of the gate". */
const firstWords = (name: string): string => name.split(' ').slice(0, -1).join(' ');

/** @returns null if a word of it is not known */
function thingOf(part: string): RuleThing | null {
  const body = part.replace(DETERMINER, '');
  const worn = CLOTHES.exec(body);
  const worded = worn === null ? body : `${worn[2]} ${worn[1]}`;
  const phrase = COLOUR_PHRASES.find((colour) => worded.startsWith(`${colour} `));
  const name = phrase === undefined ? worded : worded.slice(phrase.length + 1);
  const colour = phrase === undefined ? null : canonicalColour(phrase);
  if (ANY_THING.test(name)) return { noun: null, colour };
  const noun = ANY_PERSON.test(name) ? 'person' : NOUN_FORMS.get(name)?.noun;
  return noun === undefined ? null : { noun, colour };
}
