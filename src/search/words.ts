/** Tokenizer of sentences, names and queries: words without case and accents, in the order of the text. */

/** Scripts that are written without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/**
 * @returns runs of letters and digits, folded; a run without spaces between its words (Chinese, Thai) as its pairs of
 *   neighbouring characters. Every other character separates words, so no text has a syntax.
 */
export function wordsOf(text: string): string[] {
  const runs = folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  return runs.flatMap((run) => (UNSPACED.test(run) ? pairsOf(run) : [run]));
}

/** Lower case, without accents and without the genitive of "the driver's". */
const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/['’]s\b/g, '');

function pairsOf(run: string): string[] {
  const characters = [...run];
  return characters.length === 1 ? characters : characters.slice(1).map((next, i) => `${characters[i]}${next}`);
}

/** @returns the characters of a pair of a script without spaces; of other words, none */
export const charactersOf = (word: string): string[] =>
  UNSPACED.test(word) && [...word].length === 2 ? [...word] : [];

/** The singular of a regular English plural; other words as they are. Both sides of a search go through it. */
export function singularOf(word: string): string {
  if (word.length < 4 || !word.endsWith('s') || /(?:ss|us|is)$/.test(word)) return word;
  if (/ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  return /(?:[sx]|ch|sh)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1);
}

const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  [
    'a an the this that these those there here it its his her their my our your he she they we you i me us them',
    'no not is are was were be been being am has have had having do does did can could will would shall should may might must',
    'of in on at by to from into onto and or but with than as for about up down out off over near beside then so if',
    'who whom which what when where why how whose show find search give list me please any all some every each',
    'nothing anything everything change changes changed happened',
    'now just also already only very quite again still ever has t s re ve ll d m',
  ].flatMap((line) => line.split(' ')),
);
/** A word that names no thing, colour, direction or place of its own. */
export const isFunctionWord = (word: string): boolean => FUNCTION_WORDS.has(word);
