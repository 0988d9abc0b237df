/**
 * Noun phrases of the captions' grammar: finds those of a clause, and writes others in their place. "the two people in
 * dark clothes": determiner, count, colour, noun, clothes.
 */

export interface NounPhrase {
  /** positions in the clause: the first word, and the one after the last */
  readonly from: number;
  readonly to: number;
  readonly definite: boolean;
  /** two, three, several; null for one thing */
  readonly count: string | null;
  /** as in the clause, plural included */
  readonly noun: string;
  /** position of the noun's last word */
  readonly nounAt: number;
  readonly colour: string | null;
  /** position of the colour's last word */
  readonly colourAt: number | null;
  /** clothes after the colour ("coat"), if the clause names some */
  readonly garment: string | null;
}

const COUNTS: readonly string[] = ['two', 'three', 'several'];
const COLOURS: ReadonlySet<string> = new Set(
  'red blue green yellow orange brown beige pink purple white black grey silver dark light'.split(' '),
);
const ENDS: ReadonlySet<string> = new Set(
  'has have is are on at by in and now instead of been replaced taken moved there'.split(' '),
);

/** @returns the noun phrases that are no part of a place, in the order of the clause */
export function nounPhrasesOf(words: readonly string[]): NounPhrase[] {
  const found: NounPhrase[] = [];
  for (let i = 0; i < words.length; i = Math.max(i + 1, found.at(-1)?.to ?? 0)) {
    if (!startsPhrase(words, i)) continue;
    const phrase = phraseAt(words, i);
    if (phrase !== null) found.push(phrase);
  }
  return found;
}

/** A phrase after a preposition of place ("by the table") belongs to the place. */
const startsPhrase = (words: readonly string[], i: number): boolean =>
  (/^(?:a|an|the|someone)$/.test(words[i] as string) || COUNTS.includes(words[i] as string)) &&
  (!/^(?:on|in|at|by|to|towards|from)$/.test(words[i - 1] ?? '') || words[i - 2] === 'replaced');

function phraseAt(words: readonly string[], from: number): NounPhrase | null {
  const plain = { from, colour: null, colourAt: null, garment: null };
  if (words[from] === 'someone') {
    return { ...plain, to: from + 1, definite: false, count: null, noun: 'person', nounAt: from };
  }
  let at = COUNTS.includes(words[from] as string) ? from : from + 1;
  const count = COUNTS.includes(words[at] ?? '') ? (words[at++] as string) : null;
  const start = at;
  while (COLOURS.has(words[at] ?? '')) at++;
  const colours = words.slice(start, at);
  const nounFrom = at;
  while (at < words.length && !ENDS.has(words[at] as string)) at++;
  if (at === nounFrom) return null;
  const worn = clothesAt(words, at);
  return {
    from,
    to: worn?.to ?? at,
    definite: words[from] === 'the',
    count,
    noun: words.slice(nounFrom, at).join(' '),
    nounAt: at - 1,
    colour: worn?.colour ?? (colours.length > 0 ? colours.join(' ') : null),
    colourAt: worn?.colourAt ?? (colours.length > 0 ? nounFrom - 1 : null),
    garment: worn?.garment ?? null,
  };
}

/** "in brown", "in a dark blue coat", "in dark clothes" */
function clothesAt(words: readonly string[], from: number) {
  if (words[from] !== 'in') return null;
  let at = from + 1;
  if (/^an?$/.test(words[at] ?? '')) at++;
  const start = at;
  while (COLOURS.has(words[at] ?? '')) at++;
  if (at === start) return null;
  const garment = at < words.length && !ENDS.has(words[at] as string) ? (words[at] as string) : null;
  return {
    to: garment === null ? at : at + 1,
    colour: words.slice(start, at).join(' '),
    colourAt: at - 1,
    garment,
  };
}

/** Content of a noun phrase. */
export interface Named {
  readonly noun: string;
  readonly colour: string | null;
  /** a person wears the colour */
  readonly wears: boolean;
}

/**
 * @param like a phrase of the clause, whose determiner, count and clothes stay
 * @param plural of the noun
 */
export function writePhrase(like: NounPhrase, { noun, colour, wears }: Named, plural: string): string {
  const head = like.count === null ? noun : plural;
  const wearing = colour === null || !wears ? '' : ` in ${clothes(colour, like)}`;
  const body = colour === null || wears ? head : `${colour} ${head}`;
  if (noun === 'something' && like.count === null) return body;
  const article = like.definite ? 'the' : like.count === null ? articleOf(body) : '';
  return [article, like.count ?? '', `${body}${wearing}`].filter((part) => part !== '').join(' ');
}

const articleOf = (words: string): string => (/^[aeiou]|^suv\b/.test(words) ? 'an' : 'a');

function clothes(colour: string, { garment, count, colour: written }: NounPhrase): string {
  if (garment === null || garment === 'clothes' || count !== null) return colour === 'dark' ? 'dark clothes' : colour;
  return colour === written ? `${articleOf(colour)} ${colour} ${garment}` : colour;
}
