/**
 * Text of a language model as plain text: without links, markup and invisible characters, and with no character that a
 * page, a chat or a terminal interprets. Pure.
 */

/** Longest text that is read at all, so that no pattern below runs for long. */
export const LONGEST_TEXT = 2_000;

type Rule = readonly [pattern: RegExp, by: string];

const MARKUP: readonly Rule[] = [
  // Invisible characters join the letters of a word, so that they leave no space.
  [/[\p{Cf}\p{Co}\p{Cs}]/gu, ''],
  [/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' '],
  [/<[^>]{0,500}>/g, ' '],
  // The text of a link or picture stays, its address goes.
  [/!?\[([^\]]{0,300})\]\([^)]{0,500}\)/g, '$1'],
];
const ADDRESSES: readonly Rule[] = [
  [/\b(?:[a-z][a-z0-9+.-]{0,30}:\/\/|www\.|(?:javascript|data|mailto|tel|file):)\S*/gi, ' '],
  [/\S{0,100}@\S{0,100}/g, ' '],
  // Host names: a dot between letters.
  [/\b[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){0,9}\.\p{L}{2,24}\b(?:[/:?#]\S*)?/gu, ' '],
];
const REST: readonly Rule[] = [
  // Escaped, because only these characters are left.
  [/[^\p{L}\p{M}\p{N} .,;:!?'’%-]/gu, ' '],
  [/ +/g, ' '],
  [/ (?=[.,;:!?])/g, ''],
];

const without = (text: string, rules: readonly Rule[]): string =>
  rules.reduce((left, [pattern, by]) => left.replace(pattern, by), text);
const withoutMarkup = (text: string): string => without(text.slice(0, LONGEST_TEXT).normalize('NFKC'), MARKUP);

/** @param text at most LONGEST_TEXT characters are read */
export const plainText = (text: string): string => without(withoutMarkup(text), [...ADDRESSES, ...REST]).trim();

/** Whether the text names an address, so that its plain text lacks a part of the sentence. */
export function hasAddress(text: string): boolean {
  const left = withoutMarkup(text);
  return ADDRESSES.some(([pattern]) => left.search(pattern) >= 0);
}
