/**
 * Words of a caption as pycocoevalcap makes them: the Penn Treebank rules of Stanford's PTBTokenizer as far as captions
 * meet them, lower-cased, then without punctuation. Abbreviations are known only by their shape (u.s., e.g.) or from the list.
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
/** Two tokens for one word, as the treebank writes them. */
const FUSED: Readonly<Record<string, readonly [string, string]>> = {
  cannot: ['can', 'not'],
  gonna: ['gon', 'na'],
  gotta: ['got', 'ta'],
  wanna: ['wan', 'na'],
  lemme: ['lem', 'me'],
};
const PUNCTUATION = new Set(["''", "'", '``', '`', '.', '?', '!', ',', ':', '-', '--', '...', ';', '"']);

/** A number, a word with inner hyphens, apostrophes, slashes, full stops or colons between digits, a bracket, or one other sign. */
const TOKEN =
  /\d+(?:[.,:/]\d+)+|(?:\p{L}\.){2,}|[\p{L}\p{N}]+(?:[-/&.'’_][\p{L}\p{N}]+)*\.?|\.{3}|--|[^\s]/gu;

/** Words that metrics see. Never holds an empty string. */
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
  // A full stop belongs to an abbreviation and to nothing else.
  const word = /[^.]\.$/.test(token) && !isAbbreviation(token) ? token.slice(0, -1) : token;
  const fused = FUSED[word];
  if (fused !== undefined) return fused;
  const clitic = /^(.+?)(n't|'(?:s|re|ve|ll|d|m))$/.exec(word);
  return clitic === null ? [word] : [clitic[1] as string, clitic[2] as string];
}

const isAbbreviation = (token: string): boolean =>
  ABBREVIATIONS.has(token) || /^(?:\p{L}\.){2,}$/u.test(token);
