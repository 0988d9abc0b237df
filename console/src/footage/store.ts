/** The batches of the service, read again and again while the page is open, and how fast they go. */
import { signal } from '@preact/signals';
import type { components } from '../../../openapi/generated/api.js';
import { systemClock } from '../../../src/base/clock.js';
import type { FootageChange, FootageFailure, FootageGap, FootageSummary } from '../../../src/footage/records.js';
import type { PlaceSearch } from '../../../src/schemas/place-search.js';
import { api, ok } from '../api/client.js';
import { readPages } from '../api/pages.js';

export type Batch = components['schemas']['Batch'];
export type RecordedChange = FootageChange;
export type { PlaceInterval, PlaceSearch } from '../../../src/schemas/place-search.js';

/** The results of a batch in the format `json`. */
export interface Results {
  readonly summary: FootageSummary;
  readonly changes: readonly FootageChange[];
  readonly gaps: readonly FootageGap[];
  readonly failures: readonly FootageFailure[];
}

/** Speed is measured over this time, ms. */
const WINDOW_MS = 60_000;

export const batches = signal<readonly Batch[] | null>(null);
/** Pages of the list that are read, and whether the service has earlier batches. */
export const shownPages = signal(1);
export const moreBatches = signal(false);
/** Videos that this page has uploaded, by batch: they are played without choosing them again. */
export const uploaded = new Map<string, readonly File[]>();

interface Sample {
  /** epoch ms */
  readonly at: number;
  readonly progress: number;
  readonly frames: number;
  /** time of the recordings that is processed, ms */
  readonly recorded: number;
}
const samples = new Map<string, readonly Sample[]>();

export const isRunning = ({ status }: Pick<Batch, 'status'>): boolean => status === 'queued' || status === 'running';

export async function loadBatches(): Promise<void> {
  const read = (query: { limit: number; cursor?: string }) => ok(api.GET('/v1/batches', { params: { query } }));
  const { items, more } = await readPages(read, shownPages.peek());
  for (const batch of items) measure(batch);
  batches.value = items;
  moreBatches.value = more;
}

/** @returns the batch, which also replaces the one in the list */
export async function loadBatch(id: string): Promise<Batch> {
  const batch = await ok(api.GET('/v1/batches/{id}', { params: { path: { id } } }));
  keepBatch(batch);
  return batch;
}

export function keepBatch(batch: Batch): void {
  measure(batch);
  const others = (batches.peek() ?? []).filter(({ id }) => id !== batch.id);
  batches.value = [...others, batch].sort((a, b) => (a.id < b.id ? 1 : -1));
}

export function dropBatch(id: string): void {
  batches.value = (batches.peek() ?? []).filter((batch) => batch.id !== id);
}

function measure(batch: Batch): void {
  const { id, progress, frames, cameras } = batch;
  if (!isRunning(batch)) return void samples.delete(id);
  const recorded = cameras.reduce(
    (sum, { starts_at, reached }) => sum + (reached === null ? 0 : Date.parse(reached) - Date.parse(starts_at)),
    0,
  );
  const now = systemClock();
  const recent = (samples.get(id) ?? []).filter(({ at }) => now - at < WINDOW_MS);
  samples.set(id, [...recent, { at: now, progress, frames, recorded }]);
}

export interface Speed {
  readonly framesPerSecond: number;
  /** seconds of recording per second */
  readonly timesRealTime: number;
  /** null: unknown */
  readonly secondsLeft: number | null;
}

/** @returns null until the page has seen the batch advance */
export function speedOf(batch: Pick<Batch, 'id' | 'progress'>): Speed | null {
  const [first, ...rest] = samples.get(batch.id) ?? [];
  const last = rest.at(-1);
  if (first === undefined || last === undefined || last.progress <= first.progress) return null;
  const seconds = (last.at - first.at) / 1000;
  return {
    framesPerSecond: (last.frames - first.frames) / seconds,
    timesRealTime: (last.recorded - first.recorded) / 1000 / seconds,
    secondsLeft: ((1 - last.progress) * seconds) / (last.progress - first.progress),
  };
}

/** Name for people: that of the request, or else its cameras. */
export function nameOf({ metadata, cameras, id }: Batch): string {
  const name = typeof metadata === 'object' && metadata !== null && 'name' in metadata ? metadata.name : undefined;
  if (typeof name === 'string' && name !== '') return name;
  return cameras.length === 0 ? id : cameras.map(({ camera }) => camera).join(', ');
}

/** The results by the mode of the batch. */
export type Outcome =
  | { readonly mode: 'changes'; readonly results: Results }
  | { readonly mode: 'when'; readonly search: PlaceSearch };

export async function readOutcome({ id, mode }: Batch): Promise<Outcome> {
  const params = { path: { id }, query: { format: 'json' } } as const;
  const results = (await ok(api.GET('/v1/batches/{id}/results', { params }))) as unknown;
  return mode === 'when' ? { mode, search: results as PlaceSearch } : { mode, results: results as Results };
}
