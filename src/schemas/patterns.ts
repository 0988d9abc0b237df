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

/**
 * Control characters, line ends and marks that turn the direction of writing, for a class: in a name they would break
 * the lines of a message or show it in another order.
 */
const CONTROLS = '\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069';

/** A name for people, on one line. */
export const NAME_PATTERN = `^[^${CONTROLS}]*$`;

/** A group of cameras: a name without spaces at its ends. */
export const LABEL_PATTERN = `^[^${SPACES}${CONTROLS}](?:[^${CONTROLS}]*[^${SPACES}${CONTROLS}])?$`;

/** @returns the text on one line, with a space instead of what names may not have */
export const onOneLine = (text: string): string => text.replace(new RegExp(`[${CONTROLS}]+`, 'g'), ' ');

export const VISIT_ID_PATTERN = '^vis_[0-9a-z]{26}$';
