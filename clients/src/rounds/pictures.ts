/** The usable picture of a camera nearest to a time, by the comparisons of its frames. */
import type { components } from '../../../openapi/generated/api.js';
import { ok, type Service } from '../service.js';
import { type Round, wallTime } from './times.js';

type Comparison = components['schemas']['Comparison'];

const MINUTE_MS = 60_000;
/** A picture this near to the time is taken at once; a camera with rare pictures gets the wider window. */
export const NEAR_MS = 2 * MINUTE_MS;
/** Greatest distance of a picture from its time. */
export const WIDEST_MS = 60 * MINUTE_MS;
/** Time within which the service has answered a frame, and frames that come late have come. */
export const LATE_MS = MINUTE_MS;
/** Pictures that are tried per time. */
const MOST_TRIES = 20;

export interface Picture {
  /** capture time, epoch ms */
  readonly at: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}
/** A usable picture, or a sentence about the pictures that are there in its place. */
export type Search = Picture | { readonly missing: string };

/**
 * @param widths windows around the time in ms, each tried if the one before has no usable picture
 * @throws Failure of the service
 */
export async function nearestPicture(
  service: Service,
  { camera, tz }: Round,
  at: number,
  widths: readonly number[],
): Promise<Search> {
  let search: Search = { missing: '' };
  for (const width of widths) {
    const comparisons = await comparisonsNear(service, camera, at, width);
    const reasons: string[] = [];
    for (const comparison of comparisons.slice(0, MOST_TRIES)) {
      const reason = faultOf(comparison);
      const bytes = reason === undefined ? await frameOf(service, comparison.id) : undefined;
      if (bytes !== undefined) return { at: capturedAt(comparison), bytes };
      reasons.push(reason ?? 'no longer stored');
    }
    search = { missing: whatIsThere(reasons, comparisons.length, width, wallTime(at, tz)) };
  }
  return search;
}

/** @returns the frames of a camera captured within `width` ms of `at`, the nearest first */
async function comparisonsNear({ api }: Service, camera: string, at: number, width: number): Promise<Comparison[]> {
  const near: Comparison[] = [];
  // The list is by the time of acceptance, which follows the capture.
  const span = { since: isoTime(at - width), until: isoTime(at + width + LATE_MS) };
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { camera, ...span, limit: 100, ...(cursor === undefined ? {} : { cursor }) };
    const page = await ok(api.GET('/v1/comparisons', { params: { query } }));
    near.push(...page.items.filter((one) => Math.abs(capturedAt(one) - at) <= width));
    cursor = page.next_cursor;
  }
  return near.sort((a, b) => Math.abs(capturedAt(a) - at) - Math.abs(capturedAt(b) - at));
}

const isoTime = (at: number): string => new Date(at).toISOString();

/** @returns epoch ms; NaN of a comparison that is no frame of its camera */
const capturedAt = ({ camera_frame: frame }: Comparison): number => Date.parse(frame?.captured_at ?? '');

/** @returns why the picture of a comparison is not usable; undefined: it is */
function faultOf({ status, verdict, lost, camera_frame: frame }: Comparison): string | undefined {
  if (status === 'queued' || status === 'running') return 'not compared yet';
  if (status !== 'finished') return 'damaged';
  if (verdict === 'tamper') return 'tampered, dark or of another view';
  if (lost?.side === 'after') return 'damaged';
  return frame?.notes.some(({ code }) => code === 'size_changed') ? 'of another shape' : undefined;
}

/** @returns the frame as the service shows it, masked by the privacy zones; undefined if it is not stored any more */
async function frameOf({ api }: Service, id: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const params = { path: { id, side: 'after' as const } };
  const answer = await api.GET('/v1/comparisons/{id}/frames/{side}', { params, parseAs: 'arrayBuffer' });
  if (answer.response.status === 404 || answer.response.status === 410) return undefined;
  return new Uint8Array((await ok(Promise.resolve(answer))) as ArrayBuffer);
}

/** @param pictures number of them in the window, tried or not */
function whatIsThere(reasons: readonly string[], pictures: number, width: number, time: string): string {
  const counts = [...new Set(reasons)].map((one) => `${reasons.filter((other) => other === one).length} ${one}`);
  const what = pictures === 0 ? 'no picture' : `${pictures} pictures, none usable (${counts.join(', ')})`;
  return `${what} within ${width / MINUTE_MS} min of ${time}`;
}
