/** Codec of a list's opaque cursor: the position of the last item of a page. */
import { ScenedeltaError } from '../errors.js';

export interface Position {
  /** epoch ms */
  readonly at: number;
  readonly id: string;
}

export const encodeCursor = ({ at, id }: Position): string =>
  Buffer.from(`${at}:${id}`).toString('base64url');

/** @throws ScenedeltaError 'invalid-request' if the text is no cursor of this service. */
export function decodeCursor(cursor: string): Position {
  const match = /^(\d{1,15}):(\w{1,64})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new ScenedeltaError(
      'invalid-request',
      `cursor=${JSON.stringify(cursor.slice(0, 100))}: expected next_cursor of the page before`,
      { field: 'cursor' },
    );
  }
  return { at: Number(match[1]), id: match[2] };
}
