/**
 * Tokenizer of captions as in pycocoevalcap: the Penn Treebank rules of Stanford's PTBTokenizer that occur in
 * captions, lower case, without punctuation. An abbreviation is recognised by its shape (u.s., e.g.) or from the
 * list.
 */

const ABBREVIATIONS = new Set(['mr.', 'mrs.', 'ms.', 'dr.', 'etc.', 'vs.']);
const BRACKETS: Readonly<Record<string, string>> = {
  '(': '-lrb-',
  ')': '-rrb-',
  '[': '-lsb-',
  ']': '-rsb-',
  '{': '-lcb-',
  '}': '-rcb-',
};
/** Words that the treebank splits into two tokens. */
const FUSED: Readonly<Record<string, readonly [string, string]>> = {
  cannot: ['can', 'not'],
  gonna: ['gon', 'na'],
  gotta: ['got', 'ta'],
  wanna: ['wan', 'na'],
  lemme: ['lem', 'me'],
};
const PUNCTUATION = new Set(["''", "'", '``', '`', '.', '?', '!', ',', ':', '-', '--', '...', ';', '"']);

/**
 * A number, a word (hyphens, apostrophes, slashes and full stops inside), three full stops, two hyphens, or one other
 * character.
 */
const TOKEN = /\d+(?:[.,:/]\d+)+|(?:\p{L}\.){2,}|[\p{L}\p{N}]+(?:[-/&.'’_][\p{L}\p{N}]+)*\.?|\.{3}|--|[^\s]/gu;

/** @returns the words that the metrics count; never an empty string */
export function tokenize(caption: string): string[] {
  const words: string[] = [];
  for (const match of caption.toLowerCase().replaceAll('’', "'").matchAll(TOKEN)) {
    for (const token of splitToken(match[0])) if (!PUNCTUATION.has(token)) words.push(token);
  }
  return words;
}

function splitToken(token: string): readonly string[] {
  const bracket = BRACKETS[token];
  if (bracket !== undefined) return [bracket];
  // A final full stop is part of the word only in an abbreviation.
  const word = /[^.]\.$/.test(token) && !isAbbreviation(token) ? token.slice(0, -1) : token;
  const fused = FUSED[word];
  if (fused !== undefined) return fused;
  const clitic = /^(.+?)(n't|'(?:s|re|ve|ll|d|m))$/.exec(word);
  return clitic === null ? [word] : [clitic[1] as string, clitic[2] as string];
}

const isAbbreviation = (token: string): boolean => ABBREVIATIONS.has(token) || /^(?:\p{L}\.){2,}$/u.test(token);
