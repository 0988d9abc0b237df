/** Sends two frames to the service and waits for the finished comparison. */
import { api, fetchApi, ok, problemOf } from '../api/client.js';
import { addressOf } from '../api/root.js';
import { type Comparison, SIDES, type Side } from '../api/types.js';

export type FrameSource =
  | { readonly kind: 'file'; readonly file: File; readonly preview: string }
  | { readonly kind: 'address'; readonly address: string };

const WAIT_S = 30;
const POLL_MS = 1_000;

/** @throws ApiError with the problem of the service */
export async function compare(frames: Readonly<Record<Side, FrameSource>>): Promise<Comparison> {
  const form = new FormData();
  for (const side of SIDES) {
    const source = frames[side];
    if (source.kind === 'file') form.append(side, source.file, source.file.name);
    else form.append(side, source.address);
  }
  const response = await fetchApi(addressOf('/v1/comparisons'), {
    method: 'POST',
    body: form,
    headers: { Prefer: `wait=${WAIT_S}`, 'X-CSRF-Protection': '1' },
  });
  const body = await response.json();
  if (!response.ok) throw problemOf(body, response.status);
  return finished(body as Comparison);
}

async function finished(comparison: Comparison): Promise<Comparison> {
  if (comparison.status !== 'queued' && comparison.status !== 'running') return endedWell(comparison);
  await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  return finished(await readComparison(comparison.id));
}

function endedWell(comparison: Comparison): Comparison {
  if (comparison.status === 'finished') return comparison;
  throw problemOf(comparison.error, comparison.error?.status ?? 0);
}

export const readComparison = (id: string): Promise<Comparison> =>
  ok(api.GET('/v1/comparisons/{id}', { params: { path: { id } } }));
