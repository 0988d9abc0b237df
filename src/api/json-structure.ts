/**
 * Limits on the structure of JSON text. A parser and a validator need up to a thousand times longer for brackets and
 * keys than for the characters of a string, so a few MB of structure would block the event loop for seconds. The scan
 * stops at the first excess, skips strings, and needs no memory per byte.
 */
import { ScenedeltaError } from '../base/errors.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** limits of the route's JSON body; default: BODY_STRUCTURE */
    jsonStructure?: StructureLimits;
  }
}

export interface StructureLimits {
  /** objects and arrays inside each other */
  readonly depth: number;
  /** members of one object */
  readonly members: number;
  /** values and member names in all */
  readonly values: number;
}

/** Limits of most bodies: two frames, a dozen options, and metadata of 4096 bytes. */
export const BODY_STRUCTURE: StructureLimits = { depth: 64, members: 1024, values: 8192 };
/** Limits of camera settings: 64 zones of 64 corners, and 100 severity rules of 32 windows of 7 days. */
export const CAMERA_STRUCTURE: StructureLimits = { depth: 64, members: 1024, values: 65_536 };

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Does not check that the text is JSON.
 * @param what the text in messages, e.g. 'The JSON body'
 * @throws ScenedeltaError 'payload-too-large' naming the limit and the place of the excess
 */
export function assertStructure(json: Buffer, limits: StructureLimits, what: string, field?: string): void {
  const members = new Uint32Array(limits.depth + 1);
  let depth = 0;
  let values = 0;
  const refuse = (found: string, limit: number, at: number) =>
    new ScenedeltaError(
      'payload-too-large',
      `${what} has more than ${limit} ${found} (at byte ${at + 1} of ${json.length}), expected at most ${limit}`,
      field === undefined ? {} : { field },
    );
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (byte === QUOTE) {
      i = endOfString(json, i);
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (++depth > limits.depth) throw refuse('levels of nesting', limits.depth, i);
      if (++values > limits.values) throw refuse('values', limits.values, i);
      members[depth] = 0;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      // Unbalanced text ends here for a parser too.
      if (--depth < 0) return;
    } else if (byte === COMMA || byte === COLON) {
      if (++values > limits.values) throw refuse('values', limits.values, i);
      if (byte === COLON && ++(members[depth] as number) > limits.members) {
        throw refuse('members in one object', limits.members, i);
      }
    }
  }
}

/** @param start index of the opening quote. @returns the index of the closing one, or the length without one */
function endOfString(json: Buffer, start: number): number {
  const end = json.indexOf(QUOTE, start + 1);
  if (end === -1) return json.length;
  if (json[end - 1] !== BACKSLASH) return end;
  for (let i = start + 1; i < json.length; i++) {
    const byte = json[i];
    if (byte === BACKSLASH) i++;
    else if (byte === QUOTE) return i;
  }
  return json.length;
}
