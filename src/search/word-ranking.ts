/** Ranking of changes by the words of a query: BM25 over their sentences and the names of their places. */
import { isOpposite } from './directions.js';
import type { ChangeGroups, Entry, Group, Place, Text } from './groups.js';
import type { Alternative, Query, QueryItem } from './query.js';
import { passes, type Scope, type SearchFilter } from './scope.js';
import type { TermUse } from './texts.js';

/** Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. */
const K1 = 1.2;
const B = 0.75;
/** Weight of a word in the name of a camera or zone beside one in a sentence. */
const PLACE_WEIGHT = 0.7;

/** A word of the query, and the word of the change that answers it. */
export interface MatchedWord {
  readonly word: string;
  readonly matched: string;
}
export interface RankedEntry {
  readonly entry: Entry;
  readonly words: readonly MatchedWord[];
  /** 1 + number of better changes + half of the equal ones */
  readonly rank: number;
  /** whether it states the opposite of the query; such changes come last */
  readonly opposite: boolean;
}
/** Groups with the same score for the same words. */
interface Bucket {
  readonly score: number;
  readonly words: readonly MatchedWord[];
  readonly opposite: boolean;
  /** whether it answers a noun of the query, or the query names none that any change answers */
  readonly hasThing: boolean;
  readonly groups: Iterable<Group>;
}
interface Match {
  readonly weight: number;
  readonly count: number;
  readonly matched: string;
}
/** The match of each item of the query, in their order. */
type Matches = readonly (Match | undefined)[];

/** @returns the best changes first, at most `most`; equal ones by time, the latest first */
export function rankByWords(
  query: Query,
  changes: ChangeGroups,
  scope: Scope,
  { filter, most }: { filter: SearchFilter; most: number },
): RankedEntry[] {
  const buckets = bucketsOf(query, changes, scope);
  buckets.sort((a, b) => tierOf(a) - tierOf(b) || b.score - a.score);
  const ranked: RankedEntry[] = [];
  for (let from = 0; from < buckets.length && ranked.length < most; ) {
    const first = buckets[from] as Bucket;
    const equal = new Map<Entry, Bucket>();
    for (
      let bucket: Bucket | undefined = first;
      bucket !== undefined && isEqual(bucket, first);
      bucket = buckets[++from]
    ) {
      for (const group of bucket.groups) {
        if (scope.ofGroup(group) === 0) continue;
        for (const entry of group.entries) if (passes(entry, filter)) equal.set(entry, bucket);
      }
    }
    const rank = ranked.length + (equal.size + 1) / 2;
    for (const entry of latest([...equal.keys()], most - ranked.length)) {
      ranked.push({ entry, words: (equal.get(entry) as Bucket).words, rank, opposite: first.opposite });
    }
  }
  return ranked;
}

/** A red car is a worse answer to "a woman in red" than a person in black, and the opposite direction the worst. */
const tierOf = ({ opposite, hasThing }: Bucket): number => (opposite ? 2 : 0) + (hasThing ? 0 : 1);
const isEqual = (a: Bucket, b: Bucket): boolean => a.score === b.score && tierOf(a) === tierOf(b);

function bucketsOf(query: Query, changes: ChangeGroups, scope: Scope): Bucket[] {
  const texts = matchingTexts(query, changes, scope);
  const names = { items: query.items.map(exactly) };
  const places = new Map([...scope.places].flatMap((place) => entryIfAny(place, matchesIn(place.terms, names))));
  const score = scorerOf(query, scope, frequenciesOf(query, scope, { texts, places }));
  const buckets: Bucket[] = [];
  const add = (matches: Matches, { text, inPlace }: { text: Text; inPlace?: Matches }, groups: Iterable<Group>) => {
    const scored = score(matches, text, inPlace);
    if (scored !== null) buckets.push({ ...scored, groups });
  };
  for (const [text, matches] of texts) {
    if (places.size === 0) add(matches, { text }, text.groups);
    else for (const group of text.groups) addGroup(group, matches);
  }
  const { courses, way } = query.directions;
  for (const [place, inPlace] of places) {
    const others = [...place.groups].filter(({ text }) => !texts.has(text));
    const [first] = others;
    // Without a direction in the query, all of them have the score of the place.
    if (courses.length > 0 || way !== null) for (const group of others) addGroup(group, NO_MATCHES);
    else if (first !== undefined) add(NO_MATCHES, { text: first.text, inPlace }, others);
  }
  return buckets;

  function addGroup(group: Group, matches: Matches): void {
    const inPlace = places.get(group.place);
    if (scope.ofGroup(group) > 0)
      add(matches, { text: group.text, ...(inPlace === undefined ? {} : { inPlace }) }, [group]);
  }
}
const NO_MATCHES: Matches = [];

function matchingTexts(query: Query, changes: ChangeGroups, { ofText }: Scope): Map<Text, Matches> {
  const found = new Map<Text, Matches>();
  for (const { alternatives } of query.items) {
    for (const { term } of alternatives) {
      for (const text of changes.textsWith(term)) {
        if (ofText(text) > 0 && !found.has(text)) found.set(text, matchesIn(text.terms, query));
      }
    }
  }
  return found;
}

/** @returns per item of the query the number of changes that answer it */
function frequenciesOf(
  { items }: Query,
  scope: Scope,
  { texts, places }: { texts: ReadonlyMap<Text, Matches>; places: ReadonlyMap<Place, Matches> },
): number[] {
  const frequencies = items.map(() => 0);
  const count = (matches: Matches, changes: number, except: Matches = NO_MATCHES) => {
    for (const [i, match] of matches.entries()) {
      if (match !== undefined && except[i] === undefined) frequencies[i] = (frequencies[i] as number) + changes;
    }
  };
  for (const [text, matches] of texts) count(matches, scope.ofText(text));
  for (const [place, matches] of places) {
    if (texts.size === 0) count(matches, scope.ofPlace(place));
    else for (const group of place.groups) count(matches, scope.ofGroup(group), texts.get(group.text));
  }
  return frequencies;
}

/** BM25 of a text and the names of its place. The scorer returns null for a text that is no answer. */
function scorerOf(query: Query, scope: Scope, frequencies: readonly number[]) {
  const idf = frequencies.map((count) => Math.log(1 + (scope.changes - count + 0.5) / (count + 0.5)));
  const isDirection = query.items.map(({ concept }) => concept?.kind === 'direction');
  const asksDirectionAlone = isDirection.every(Boolean);
  const isThing = query.items.map(({ concept }, i) => concept?.kind === 'noun' && (frequencies[i] as number) > 0);
  const asksThing = isThing.some(Boolean);
  return (matches: Matches, text: Text, inPlace: Matches = NO_MATCHES): Omit<Bucket, 'groups'> | null => {
    const words: MatchedWord[] = [];
    let [score, answers, hasThing] = [0, asksDirectionAlone, !asksThing];
    for (const [i, { word }] of query.items.entries()) {
      const [worded, name] = [matches[i], inPlace[i]];
      if (worded === undefined && name === undefined) continue;
      const selfWeight = worded === undefined ? 0 : worded.weight * saturation(worded.count, text, scope);
      const nameWeight = name === undefined ? 0 : PLACE_WEIGHT * name.weight;
      score += Math.max(selfWeight, nameWeight) * (idf[i] as number);
      words.push({ word, matched: ((selfWeight >= nameWeight ? worded : name) as Match).matched });
      // The direction alone is no answer to a query for a thing.
      answers ||= !isDirection[i];
      hasThing ||= isThing[i] as boolean;
    }
    if (!answers) return null;
    return { score, words, hasThing, opposite: isOpposite(query.directions, text.directions, query.nouns) };
  };
}

/** Without wider, narrower and alike words: names say little about the things that a camera shows. */
const exactly = ({ alternatives }: Pick<QueryItem, 'alternatives'>) => ({
  alternatives: alternatives.filter(({ weight }) => weight === 1),
});

const matchesIn = (
  terms: ReadonlyMap<string, TermUse>,
  { items }: { items: readonly Pick<QueryItem, 'alternatives'>[] },
): Matches => items.map(({ alternatives }) => matchIn(terms, alternatives));

const entryIfAny = <T>(where: T, matches: Matches): [T, Matches][] =>
  matches.some((match) => match !== undefined) ? [[where, matches]] : [];

/** @returns the best alternative that the terms have */
function matchIn(terms: ReadonlyMap<string, TermUse>, alternatives: readonly Alternative[]): Match | undefined {
  let best: Match | undefined;
  for (const { term, weight } of alternatives) {
    const use = terms.get(term);
    if (use !== undefined && weight > (best?.weight ?? 0)) best = { weight, count: use.count, matched: use.word };
  }
  return best;
}

const saturation = (count: number, { length }: Text, { averageLength }: Scope): number =>
  (count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / averageLength));

/** @returns the `most` latest of them, the latest first */
function latest(entries: Entry[], most: number): Entry[] {
  let kept = entries;
  if (entries.length > most) {
    const times = Float64Array.from(entries, ({ confirmed }) => confirmed).sort();
    const least = times[times.length - most] as number;
    kept = entries.filter(({ confirmed }) => confirmed >= least);
  }
  return kept.sort((a, b) => b.confirmed - a.confirmed || (a.id < b.id ? 1 : -1)).slice(0, most);
}
