/** The place at which a text stops being JSON, in words for the person who wrote it. */

/** In longer texts the search would take too long; they are written by programs. */
const LONGEST = 64 * 1024;

/**
 * @param text that JSON.parse refuses
 * @returns e.g. `unexpected "}" at line 2, column 8`, or `it ends at line 2, column 8 before it is complete`
 */
export function jsonFault(text: string): string {
  if (text.trim() === '') return 'it is empty';
  if (text.length > LONGEST) return `somewhere in its ${text.length} characters`;
  if (isBeginning(text)) return `it ends at ${placeOf(text, text.length)} before it is complete`;
  // The shorter length begins JSON, and the longer one does not.
  let [good, bad] = [0, text.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isBeginning(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(good) ?? 0))} at ${placeOf(text, good)}`;
}

/** Whether JSON.parse refuses the text; a parser may refuse names of members as well. */
export function isSyntaxFault(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

/** Whether more characters could complete the text. */
function isBeginning(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const { message } = error as Error;
    const at = /at position (\d+)/.exec(message)?.[1];
    return /^Unexpected end|^Unterminated string/.test(message) || Number(at) === text.length;
  }
}

function placeOf(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}
