/**
 * Comparisons of a camera's frames to come, by all workers (ADR 120). The worker that folds the camera stores both
 * frames as blobs of the batch and asks; any worker of the same build compares them. The fold compares itself, if no
 * answer comes.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { BlobStore } from '../base/blobs.js';
import { ScenedeltaError } from '../base/errors.js';
import { VERSION } from '../base/version.js';
import type { FrameDependencies } from '../camera/fold/examine.js';
import { fingerprintOf } from '../footage/run/recording-run.js';
import { decodeHeatmapData, encodeHeatmapData } from '../heatmaps/data.js';
import type { JobProducer } from '../jobs/producer.js';
import type { Questioner } from '../jobs/questioner.js';
import type { Answers, QuestionOf } from '../jobs/questions.js';
import type { ModelDescription } from '../schemas/model-description.js';
import { type BatchRecord, batchPrefix } from '../stores/batches/batches.js';
import type { WorkerRegistry } from '../stores/redis/workers.js';

/** Comparisons of one camera that are asked for at a time. */
const MOST_ASKED = 32;
/** Frames of one camera in the store: two of each comparison. */
const MOST_STORED = 2 * MOST_ASKED;
/** Longest wait for an answer: its worker has died, or is full of live work. */
const WAIT_MS = 15_000;
const COUNT_EVERY_MS = 5_000;

type Compare = FrameDependencies['pipeline']['compare'];
export type ComparisonsAhead = ReturnType<typeof createComparisonsAhead>;

export interface AheadDependencies {
  readonly blobs: Pick<BlobStore, 'put' | 'delete'>;
  readonly questioner: Pick<Questioner, 'ask'>;
  readonly workers: Pick<WorkerRegistry, 'list'>;
  readonly queue: Pick<JobProducer, 'activeBatchJobs'>;
  /** longest wait for an answer */
  readonly waitMs?: number;
}

export function createComparisonsAhead({ blobs, questioner, workers, queue, waitMs = WAIT_MS }: AheadDependencies) {
  const countIdle = async () => {
    const [all, active] = await Promise.all([workers.list(), queue.activeBatchJobs()]);
    return all.filter(({ models, paused }) => models.length > 0 && paused !== true).length - active;
  };
  return {
    /** @param index of the camera in the plan @returns Ahead of look-ahead.ts; `end` must be called */
    async begin(batch: string, index: number) {
      const folder = `${aheadPrefix(batch)}/${index}`;
      // Workers with a camera of their own have no time for others.
      const limit = pLimit(1);
      const count = async () => {
        const idle = await countIdle().catch(() => 0);
        limit.concurrency = Math.min(MOST_ASKED, 1 + Math.max(0, idle));
      };
      await count();
      const timer = setInterval(count, COUNT_EVERY_MS);
      const stored = new LRUCache<string, Promise<void>>({
        max: MOST_STORED,
        dispose: (put, sha256) => void put.then(() => blobs.delete(`${folder}/${sha256}`)).catch(() => {}),
      });
      const store = async (
        bytes: Uint8Array,
        sha256 = createHash('sha256').update(bytes).digest('hex'),
      ): Promise<string> => {
        const put = stored.get(sha256) ?? blobs.put(`${folder}/${sha256}`, bytes);
        stored.set(sha256, put);
        await put;
        return sha256;
      };
      const compare: Compare = async ({ before, after, beforeKey, afterKey, signal, ...options }) => {
        const keys = await Promise.all([store(before, beforeKey), store(after, afterKey)]);
        const question = { kind: 'compare', folder, before: keys[0], after: keys[1], ...options } as const;
        const { heatmaps, ...rest } = await questioner.ask(question, waitMs, signal);
        const maps = heatmaps === null ? null : decodeHeatmapData(Buffer.from(heatmaps, 'base64'));
        return { ...rest, heatmaps: maps, timings: {} };
      };
      return {
        ...{ limit, compare },
        end(): void {
          clearInterval(timer);
          stored.clear();
        },
      };
    },
  };
}

/** The answering side. */
export const createCompareStored =
  (pipeline: { readonly compare: Compare }, blobs: Pick<BlobStore, 'get'>) =>
  async ({ kind: _kind, folder, before, after, ...options }: QuestionOf<'compare'>): Promise<Answers['compare']> => {
    const load = async (sha256: string) => {
      const bytes = await blobs.get(`${folder}/${sha256}`);
      if (bytes === undefined) throw new ScenedeltaError('gone', `the frame ${sha256} is not needed any more`);
      return bytes;
    };
    const [first, second] = await Promise.all([load(before), load(after)]);
    const pair = { before: first, after: second, beforeKey: before, afterKey: after };
    const { finding, seen, heatmaps } = await pipeline.compare({ ...pair, ...options });
    return {
      finding,
      ...(seen === undefined ? {} : { seen }),
      heatmaps: heatmaps === null ? null : Buffer.from(encodeHeatmapData(heatmaps)).toString('base64'),
    };
  };

/** @returns a text that workers share if they give the same output for the same pair */
export const buildOf = (models: readonly ModelDescription[], truth: number): string =>
  fingerprintOf({ VERSION, models, truth }).slice(0, 16);

const aheadPrefix = (batch: string): string => `${batchPrefix(batch)}/ahead`;

/** Removes the frames that workers left that died. */
export const sweepAhead = ({ id }: Pick<BatchRecord, 'id'>, blobs: Pick<BlobStore, 'sweep'>): Promise<number> =>
  blobs.sweep(aheadPrefix(id), Number.MAX_SAFE_INTEGER);
