/** HTTP client of the service for `scenedelta watch`: one picture as a frame of a camera. */
import { invalidRequest, ScenedeltaError } from '../../base/errors.js';
import { reasonOf } from '../api-client.js';

/** sent: the service has the frame; refused: it never will; later: try again. */
export type Outcome = { readonly kind: 'sent' } | { readonly kind: 'refused' | 'later'; readonly reason: string };

export type FrameClient = ReturnType<typeof createFrameClient>;

const TIMEOUT_MS = 60_000;

/** @param base address without a slash at the end @param settings of cameras that are made */
export function createFrameClient(base: string, key: string | undefined, { preset }: { readonly preset?: string }) {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const request = async (
    method: string,
    path: string,
    body: Uint8Array<ArrayBuffer> | string,
    more: Record<string, string>,
  ) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(`${base}${path}`, { method, body, headers: { ...headers, ...more }, signal });
    return { status: answer.status, reason: `${base} answered ${answer.status}: ${await reasonOf(answer)}` };
  };
  return {
    /**
     * A camera that does not exist is made, with the preset and default settings.
     * @param frame.at capture time, epoch ms @param frame.key the same at each try
     * @throws ScenedeltaError 'unauthorized' if the key is refused
     */
    async send(camera: string, frame: { bytes: Uint8Array; at: number; key: string }): Promise<Outcome> {
      const path = `/v1/cameras/${encodeURIComponent(camera)}`;
      const query = new URLSearchParams({ captured_at: new Date(frame.at).toISOString() });
      // The service reads the kind of picture from its bytes.
      const more = { 'content-type': 'image/jpeg', 'idempotency-key': frame.key };
      try {
        for (let isNew = false; ; isNew = true) {
          const sent = await request('POST', `${path}/frames?${query}`, new Uint8Array(frame.bytes), more);
          const { status, reason } = sent;
          if (status === 200 || status === 202) return { kind: 'sent' };
          if (status === 401 || status === 403) throw new ScenedeltaError('unauthorized', reason);
          if (status === 429 || status >= 500) return { kind: 'later', reason };
          if (status !== 404 || isNew) return { kind: 'refused', reason };
          const made = await request('PUT', path, JSON.stringify({ preset }), {
            'content-type': 'application/json',
            'if-none-match': '*',
          });
          if (made.status >= 300) throw invalidRequest(`camera ${camera}: ${made.reason}`);
        }
      } catch (thrown) {
        if (thrown instanceof ScenedeltaError) throw thrown;
        return { kind: 'later', reason: `${base} cannot be reached (${(thrown as Error).message})` };
      }
    },
  };
}
