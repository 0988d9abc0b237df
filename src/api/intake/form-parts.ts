/**
 * Parts of a form as clients write them: files without a file name, and content in base64, which the mail libraries of
 * several languages use for forms too.
 */
import { Readable } from 'node:stream';
import type { MultipartFile, MultipartValue } from '@fastify/multipart';
import { invalidRequest, ScenedeltaError } from '../../base/errors.js';

/** Transfer encodings that leave the bytes as they are (RFC 2045, 6.2). */
const PLAIN: ReadonlySet<string> = new Set(['', '7bit', '8bit', 'binary']);
/** Characters of base64 that encode a end number of bytes. */
const GROUP = 4;

/**
 * The types of parts without a file name that are streamed as files. As a file, a part of the type JSON is not parsed
 * by the plugin, which has no limit on its structure.
 */
export const isPartAFile = (_name: string | undefined, type = '', fileName?: string): boolean =>
  fileName !== undefined || /^(?:image\/|application\/(?:octet-stream|json)\b)/i.test(type);

/** The parser takes boundaries of up to 252 characters; RFC 2046 allows 70. */
export function assertBoundary(contentType: string): void {
  const boundary = /;\s*boundary=(?:"([^"]*)|([^\s;]*))/i.exec(contentType);
  const { length } = boundary?.[1] ?? boundary?.[2] ?? '';
  if (length <= 252) return;
  throw new ScenedeltaError(
    'malformed-body',
    `The boundary of the form has ${length} characters, expected at most 70 (RFC 2046)`,
  );
}

/** @returns the content of a file. @throws ScenedeltaError 'invalid-request', also during reading, naming the field */
export function contentOf({ file, encoding, fieldname }: MultipartFile): Readable {
  return isBase64(encoding, fieldname) ? Readable.from(decoded(file, fieldname), { objectMode: false }) : file;
}

/** @returns the text of a field. @throws ScenedeltaError 'invalid-request' naming the field */
export function textOf({ value, encoding, fieldname }: MultipartValue): string {
  const text = String(value);
  return isBase64(encoding, fieldname) ? Buffer.from(assertBase64(text, fieldname), 'base64').toString() : text;
}

function isBase64(encoding: string, field: string): boolean {
  const name = encoding.trim().toLowerCase();
  if (name === 'base64' || PLAIN.has(name)) return name === 'base64';
  const came = JSON.stringify(encoding.slice(0, 40));
  throw invalidRequest(`${field} has the Content-Transfer-Encoding ${came}, expected binary or base64`, field);
}

async function* decoded(file: AsyncIterable<Buffer>, field: string): AsyncGenerator<Buffer> {
  let held = '';
  for await (const chunk of file) {
    held += assertBase64(chunk.toString('latin1'), field).replace(/\s+/g, '');
    const end = held.length - (held.length % GROUP);
    yield Buffer.from(held.slice(0, end), 'base64');
    held = held.slice(end);
  }
  yield Buffer.from(held, 'base64');
}

function assertBase64(text: string, field: string): string {
  const stray = /[^A-Za-z0-9+/=\s]/.exec(text)?.[0];
  if (stray === undefined) return text;
  throw invalidRequest(
    `${field} has the Content-Transfer-Encoding base64 and the character ${JSON.stringify(stray)}, expected base64`,
    field,
  );
}
