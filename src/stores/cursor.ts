/** Codec of a list's opaque cursor: the position of the last item of a page. */
import { invalidRequest } from '../errors.js';

export interface Position {
  /** epoch ms */
  readonly at: number;
  readonly id: string;
}

/** Published in the OpenAPI file, so that it says which cursors are refused. */
export const CURSOR_PATTERN = '^([0-9]{1,15})[.]([A-Za-z0-9_]{1,64})$';

export const encodeCursor = ({ at, id }: Position): string => `${at}.${id}`;

/** @throws ScenedeltaError 'invalid-request' if the text is no cursor of this service. */
export function decodeCursor(cursor: string): Position {
  const match = new RegExp(CURSOR_PATTERN).exec(cursor);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw invalidRequest(
      `cursor=${JSON.stringify(cursor.slice(0, 100))}: expected next_cursor of the page before`,
      'cursor',
    );
  }
  return { at: Number(match[1]), id: match[2] };
}
