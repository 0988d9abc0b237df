/**
 * Text of a language model as plain text: without links, markup and invisible characters, and with no character that a
 * page, a chat or a terminal interprets. Pure.
 */

/** Longest text that is read at all, so that no pattern below runs for long. */
export const LONGEST_TEXT = 2_000;

const REMOVED: readonly (readonly [pattern: RegExp, by: string])[] = [
  // Invisible characters join the letters of a word, so that they leave no space.
  [/[\p{Cf}\p{Co}\p{Cs}]/gu, ''],
  [/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' '],
  [/<[^>]{0,500}>/g, ' '],
  // The text of a link or picture stays, its address goes.
  [/!?\[([^\]]{0,300})\]\([^)]{0,500}\)/g, '$1'],
  [/\b(?:[a-z][a-z0-9+.-]{0,30}:\/\/|www\.|(?:javascript|data|mailto|tel|file):)\S*/gi, ' '],
  [/\S{0,100}@\S{0,100}/g, ' '],
  // Host names: a dot between letters.
  [/\b[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){0,9}\.\p{L}{2,24}\b(?:[/:?#]\S*)?/gu, ' '],
  // Escaped, because only these characters are left.
  [/[^\p{L}\p{M}\p{N} .,;:!?'’%-]/gu, ' '],
  [/ +/g, ' '],
  [/ (?=[.,;:!?])/g, ''],
];

/** @param text at most LONGEST_TEXT characters are read */
export const plainText = (text: string): string =>
  REMOVED.reduce(
    (left, [pattern, by]) => left.replace(pattern, by),
    text.slice(0, LONGEST_TEXT).normalize('NFKC'),
  ).trim();
