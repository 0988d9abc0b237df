/** A batch of mode when: the search for the moment at which a place changed, and its results. */
import type { BlobStore } from '../base/blobs.js';
import { privacyPolygons } from '../camera/settings/zones.js';
import type { FootageItem } from '../footage/inputs/recording-plan.js';
import type { Aside } from '../footage/inputs/source-frames.js';
import { type PlaceSearchOptions, searchPlace } from '../footage/search/place-search.js';
import { cancelled } from '../footage/video/run.js';
import { NO_COUNTS } from '../schemas/batch.js';
import type { PlaceSearch } from '../schemas/place-search.js';
import type { TimeInRecording, WhenRequest } from '../stores/batches/batch-request.js';
import {
  type BatchRecord,
  type BatchStore,
  batchPictureKey,
  batchPrefix,
  batchResultKey,
  plannedSettings,
} from '../stores/batches/batches.js';
import type { BatchProgress } from '../stores/batches/progress.js';
import { createMaterialize, type MaterializeDependencies } from './materialize.js';
import { progressReports } from './reports.js';

interface Dependencies extends Omit<MaterializeDependencies, 'footageLimit'> {
  readonly batches: Pick<BatchStore, 'report' | 'announce' | 'commit'>;
  /** epoch ms */
  readonly clock: () => number;
  readonly blobs: Pick<BlobStore, 'put'>;
  readonly config: {
    readonly ffmpeg: string;
    readonly videoPixelLimit: number;
    readonly frameLimit: number;
    readonly footageLimit: number;
  } & PlaceSearchOptions['decodeLimits'];
}

const NOTHING = { ...NO_COUNTS, reached: null, done: false };
const recordKey = (batch: string): string => `${batchPrefix(batch)}/when.json`;

/**
 * Searches, and commits the result as the one chunk of the batch's camera. A search that a kill interrupted starts
 * from its beginning; the same recordings give the same result.
 * @param items the recordings of the camera, in the order of time
 * @throws ScenedeltaError
 */
export async function searchBatch(
  batch: BatchRecord,
  items: readonly FootageItem[],
  deps: Dependencies & {
    readonly pipeline: Awaited<ReturnType<PlaceSearchOptions['pipeline']>>;
    readonly aside: Aside;
  },
  signal: AbortSignal,
): Promise<void> {
  const { id, request, chunks } = batch;
  if ((chunks[0] ?? 0) > 0) return;
  const materialize = createMaterialize(id, { ...deps, footageLimit: deps.config.footageLimit });
  const { place, between, every, covered } = request.when as WhenRequest;
  const begin = items[0]?.at ?? 0;
  const timeOf = (time: TimeInRecording) => ('at' in time ? time.at : begin + time.seconds * 1000);
  const range = {
    from: between === null ? Number.NEGATIVE_INFINITY : timeOf(between.from),
    until: between === null ? Number.POSITIVE_INFINITY : timeOf(between.until),
  };
  const report = progressReports(batch, 0, deps);
  const { record, pictures } = await searchPlace(
    items,
    {
      ...deps.config,
      place,
      every,
      covered,
      range,
      signal,
      privacy: privacyPolygons(plannedSettings(batch, 0).zones),
      decodeLimits: deps.config,
      pipeline: async () => deps.pipeline,
      materialize: (item, stop) => deps.aside(materialize(item, stop)),
      onLook: async (looks, share) => {
        const progress: BatchProgress = { ...NOTHING, frames: looks, examined: looks, share };
        if (!(await report(progress))) throw cancelled();
      },
    },
    (name) => `pictures/${name}`,
  );
  for (const [name, bytes] of pictures) await deps.blobs.put(batchPictureKey(id, name), bytes);
  const blob = recordKey(id);
  await deps.blobs.put(blob, Buffer.from(JSON.stringify(record)));
  const { looks, failures, changed, changed_back: changedBack } = record;
  const changes = [changed, changedBack].filter((interval) => interval !== null).length;
  const progress = { ...NOTHING, done: true, frames: looks, examined: looks, changes, failures: failures.length };
  await deps.batches.commit(id, 0, { chunk: 1, blob, checkpoint: '{}', progress });
}

/** Writes both outputs. The same search gives the same bytes. */
export async function writeSearchResults({ id }: BatchRecord, blobs: Pick<BlobStore, 'get' | 'put'>): Promise<void> {
  const bytes = await blobs.get(recordKey(id));
  const record = JSON.parse(Buffer.from(bytes ?? []).toString()) as PlaceSearch;
  const intervals = [
    { event: 'changed', ...record.changed },
    { event: 'changed_back', ...record.changed_back },
  ].filter(({ before }) => before !== undefined);
  const lines = intervals.map((interval) => `${JSON.stringify(interval)}\n`).join('');
  await blobs.put(batchResultKey(id, 'changes.json'), Buffer.from(`${JSON.stringify(record, null, 2)}\n`));
  await blobs.put(batchResultKey(id, 'changes.ndjson'), Buffer.from(lines));
}
