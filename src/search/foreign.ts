/** A query in a language that has a table, in English: the index has the English words of statements. */
import { type EnglishWords, FOREIGN, readWords } from '../language/read-words.js';
import { itemsOf } from './analysis.js';
import { isFunctionWord, wordsOf } from './words.js';

/**
 * The query as it is searched: in the language that knows most of its words, and English of equals, because names of
 * places and words outside of the tables are of any language.
 */
export function inEnglish(query: string): Pick<EnglishWords, 'text' | 'read'> {
  const words = wordsOf(query);
  const inLexicon = itemsOf(query).flatMap(({ concept, surface }) => (concept === undefined ? [] : surface.split(' ')));
  const known = words.length === 0 ? 1 : (inLexicon.length + words.filter(isFunctionWord).length) / words.length;
  const [best] = FOREIGN.map((locale) => readWords(query, locale))
    .filter((one) => one.read.length > 0 && one.known / one.total > known)
    .sort((a, b) => b.known / b.total - a.known / a.total || b.read.length - a.read.length);
  return best ?? { text: query, read: [] };
}
