/** HTTP client of a Frigate recorder, for the few routes that the companion needs. */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { Failure, failureOf, refused } from '../failure.js';

/** The part of an event that is read; seconds since 1970. Answers have more. */
const EventSchema = Type.Object({
  id: Type.String({ minLength: 1 }),
  camera: Type.String({ minLength: 1 }),
  start_time: Type.Number(),
  end_time: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  data: Type.Optional(Type.Object({ description: Type.Optional(Type.Union([Type.String(), Type.Null()])) })),
});
export type RecorderEvent = Static<typeof EventSchema>;

export const descriptionOf = ({ data }: RecorderEvent): string => data?.description?.trim() ?? '';

/** Events of one answer. */
const PAGE = 100;
const ANSWER_LIMIT = 16 * 1024 * 1024;

export type Recorder = ReturnType<typeof createRecorder>;

/**
 * All methods throw Failure: 'unavailable' (no answer in time, 429, 5xx: try again), 'unauthorized', or 'refused'
 * (anything else that was not expected).
 * @param base address without a slash at the end
 * @param options.token sent as a bearer; undefined: none
 * @param options.timeoutMs of one request with its answer
 */
export function createRecorder(
  base: string,
  { token, timeoutMs, frameLimit }: { token: string | undefined; timeoutMs: number; frameLimit: number },
) {
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };

  const request = async (path: string, { body, limit = ANSWER_LIMIT }: { body?: object; limit?: number } = {}) => {
    const what = `${base}${path.split('?')[0]}`;
    try {
      const answer = await fetch(`${base}${path}`, {
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
        headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      });
      const bytes = await readLimited(answer, limit, what);
      return { what, status: answer.status, bytes };
    } catch (thrown) {
      if (thrown instanceof Failure) throw thrown;
      const { name, cause } = thrown as Error & { cause?: { code?: string } };
      const reason = name === 'TimeoutError' ? `did not answer within ${timeoutMs} ms` : (cause?.code ?? name);
      throw new Failure('unavailable', `${what}: ${reason}`, { cause: thrown });
    }
  };

  const expectOk = ({ what, status }: { what: string; status: number }): void => {
    if (status === 200) return;
    const needsLogin = status === 401 || status === 403;
    const hint = needsLogin ? ': set FRIGATE_TOKEN, or use its internal port (5000)' : '';
    throw failureOf(status, `${what} answered ${status}, expected 200${hint}`);
  };
  const parse = (answer: { what: string; bytes: Uint8Array }): unknown => {
    try {
      return JSON.parse(Buffer.from(answer.bytes).toString('utf8'));
    } catch {
      const start = Buffer.from(answer.bytes.subarray(0, 60)).toString('utf8');
      throw refused(`${answer.what} answered ${JSON.stringify(start)}, expected JSON`);
    }
  };

  return {
    /**
     * @param after seconds since 1970
     * @param cameras empty: all
     * @returns one page of the events that began later, the earliest first; `unreadable` others did not fit the schema
     */
    async events(
      after: number,
      cameras: readonly string[],
    ): Promise<{ events: RecorderEvent[]; unreadable: number; full: boolean }> {
      const query = new URLSearchParams({ after: String(after), limit: String(PAGE), sort: 'date_asc' });
      query.set('include_thumbnails', '0');
      if (cameras.length > 0) query.set('cameras', cameras.join(','));
      const answer = await request(`/api/events?${query}`);
      expectOk(answer);
      const value = parse(answer);
      if (!Array.isArray(value)) throw refused(`${answer.what}: expected a list of events`);
      const events = value.filter((one): one is RecorderEvent => Value.Check(EventSchema, one));
      // A recorder that ignores the filter must not get sentences on other cameras.
      const wanted = events.filter(({ camera }) => cameras.length === 0 || cameras.includes(camera));
      return { events: wanted, unreadable: value.length - events.length, full: value.length >= PAGE };
    },
    /** @returns undefined if the event no longer exists */
    async event(id: string): Promise<RecorderEvent | undefined> {
      const answer = await request(`/api/events/${encodeURIComponent(id)}`);
      if (answer.status === 404) return undefined;
      expectOk(answer);
      const value = parse(answer);
      if (Value.Check(EventSchema, value)) return value;
      throw refused(`${answer.what}: expected an event`);
    },
    /** @param at seconds since 1970 @returns the frame of the recording; undefined if there is no recording of it */
    async frame(camera: string, at: number): Promise<Uint8Array | undefined> {
      const path = `/api/${encodeURIComponent(camera)}/recordings/${at.toFixed(3)}/snapshot.jpg`;
      const answer = await request(path, { limit: frameLimit });
      if (answer.status === 404) return undefined;
      expectOk(answer);
      return answer.bytes;
    },
    async describe(id: string, description: string): Promise<void> {
      expectOk(await request(`/api/events/${encodeURIComponent(id)}/description`, { body: { description } }));
    },
  };
}

/** @throws Failure 'refused' if the body is longer than `limit` bytes */
async function readLimited(answer: Response, limit: number, what: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > limit) throw refused(`${what} answered with more than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
