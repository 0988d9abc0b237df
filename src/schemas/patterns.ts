/**
 * Patterns of texts. They are published, so each means the same in every dialect of regular expressions: none has `.`,
 * `\s`, `\S`, `\w` or `\d`, which stand for other characters in other dialects.
 */

/** Spaces and line ends, for a class. */
const SPACES = '\\x09-\\x0d\\x20\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';

/** Something else than spaces. */
export const NOT_BLANK_PATTERN = `[^${SPACES}]`;

/** @param schemes as a pattern, e.g. 'https?' or '(https?|s3)' */
export const addressPattern = (schemes: string): string => `^${schemes}://[^\\x00-\\x20]+$`;

export const URL_PATTERN = addressPattern('https?');

/** A group of cameras: a text without spaces at its ends. */
export const LABEL_PATTERN = `^[^${SPACES}](?:[^\\r\\n]*[^${SPACES}])?$`;
