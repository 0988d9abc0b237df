/**
 * The loop over one sequence: every sampled frame goes through the same step as a live camera's, in the order of time.
 * Alerts are not sent. Work is saved per chunk of frames; start reading at `runSequence`.
 */
import { ScenedeltaError } from '../../base/errors.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import type { Counts } from '../../schemas/batch.js';
import type { FootageItem, FootageSequence } from '../inputs/recording-plan.js';
import { framesOf, type Position, type SourceEvent, type SourceOptions } from '../inputs/source-frames.js';
import type { FootageFailure, Moment } from '../records.js';
import {
  type Checkpoint,
  type CheckpointStore,
  type ChunkRecord,
  initialCheckpoint,
  type Overlap,
} from './checkpoint.js';
import { type FrameAccount, sumOfAccounts } from './frame-account.js';
import { FrameStep, type FrameStepDependencies } from './frame-step.js';

/** Events of the source (frames, failures, ends of files) per chunk. */
const CHUNK_EVENTS = 256;

export interface SequenceDependencies extends Omit<FrameStepDependencies, 'momentOf'> {
  readonly checkpoints: CheckpointStore;
  readonly source: Omit<SourceOptions, 'signal'>;
  /** is called after every frame and file with the counts so far, and the capture time in epoch ms */
  readonly onProgress?: (counts: Counts, at: number | null) => void;
}

/**
 * Processes a sequence from its last checkpoint to its end, or until `signal` aborts; then the work since the last
 * chunk is saved as well.
 * @returns the last checkpoint
 * @throws ScenedeltaError of the pipeline or the stores; those of single files and frames become records
 */
export async function runSequence(
  sequence: FootageSequence,
  camera: StoredCamera,
  deps: SequenceDependencies,
  signal: AbortSignal,
): Promise<Checkpoint> {
  const saved = await deps.checkpoints.load();
  if (saved?.checkpoint.done) return saved.checkpoint;
  const run = new SequenceRun(sequence, camera, deps, saved?.checkpoint ?? initialCheckpoint());
  await run.restore(saved?.blobs ?? new Map());
  return run.toEnd(signal);
}

class SequenceRun {
  readonly #sequence: FootageSequence;
  readonly #deps: SequenceDependencies;
  readonly #step: FrameStep;
  #checkpoint: Checkpoint;
  #position: Position;
  #records: ChunkRecord[] = [];
  #events = 0;
  #account: FrameAccount;
  readonly #overlaps: Overlap[];

  constructor(sequence: FootageSequence, camera: StoredCamera, deps: SequenceDependencies, checkpoint: Checkpoint) {
    this.#sequence = sequence;
    this.#deps = deps;
    this.#checkpoint = checkpoint;
    this.#position = checkpoint.position;
    this.#account = checkpoint.account;
    this.#overlaps = [...(checkpoint.overlaps ?? [])];
    this.#step = new FrameStep(camera, checkpoint, {
      ...deps,
      momentOf: (time) => momentOf(sequence, this.#overlaps, time),
    });
  }

  restore(blobs: ReadonlyMap<string, Uint8Array>): Promise<void> {
    return this.#step.restore(blobs);
  }

  async toEnd(signal: AbortSignal): Promise<Checkpoint> {
    const { source, onProgress } = this.#deps;
    try {
      for await (const event of framesOf(this.#sequence, this.#position, { ...source, signal })) {
        await this.#handle(event, signal);
        // A frame at which the run was interrupted comes in again when it goes on.
        this.#accountFor(event.account);
        onProgress?.(this.#step.counts, this.#position.at);
        if (++this.#events >= CHUNK_EVENTS) await this.#save(false);
        if (signal.aborted) break;
      }
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    }
    await this.#save(!signal.aborted);
    return this.#checkpoint;
  }

  async #handle(event: SourceEvent, signal: AbortSignal): Promise<void> {
    const item = this.#sequence.items[event.item] as FootageItem;
    if (event.type === 'frame') {
      const { frame } = event;
      this.#noteOverlap(event.item, frame.at);
      try {
        this.#records.push(...(await this.#step.process(frame, this.#gapBefore(frame.at), signal)));
      } catch (thrown) {
        if (!(thrown instanceof ScenedeltaError) || !isFaultOfFrame(thrown)) throw thrown;
        this.#fail(item, item.kind === 'image' ? null : frame.seconds, thrown);
        this.#accountFor({ in: 0, skipped: { unreadable: 1 } });
      } finally {
        frame.release();
      }
      const jumped = frame.jumpedAfter === null ? {} : { jumpedAfter: frame.jumpedAfter };
      this.#position = { item: event.item, seconds: frame.seconds, at: frame.at, ...jumped };
      return;
    }
    if (event.type === 'damage') {
      const { from, until, at, error } = event.damage;
      this.#fail(item, from, error);
      this.#position = { item: event.item, seconds: until, at };
      return;
    }
    if (event.type === 'failure') this.#fail(item, null, event.error);
    else {
      const { file, at } = item;
      const record = { file, at: new Date(at).toISOString(), duration: event.duration };
      this.#records.push({ type: 'file', record });
      for (const doubt of event.doubts) {
        this.#records.push({ type: 'doubt', record: `${this.#sequence.camera}: ${file}: ${doubt}` });
      }
    }
    this.#position = { item: event.item + 1, seconds: null, at: this.#position.at };
  }

  /** The frames that a file shows are its own, also after the begin of the next file. */
  #noteOverlap(item: number, at: number): void {
    const [shown, next] = this.#sequence.items.slice(item, item + 2);
    if (shown?.kind !== 'video' || next === undefined || at - next.at < LEAST_OVERLAP_MS) return;
    if (this.#overlaps.at(-1)?.item === item) this.#overlaps.pop();
    else if (this.#overlaps.length >= MAX_OVERLAPS) this.#overlaps.shift();
    this.#overlaps.push({ item, until: at });
  }

  /** @returns the time of the last frame, if the time since then is a gap */
  #gapBefore(at: number): number | null {
    const last = this.#position.at;
    return last !== null && at - last > this.#sequence.gapMs ? last : null;
  }

  #accountFor(account: FrameAccount): void {
    this.#account = sumOfAccounts([this.#account, account]);
  }

  #fail({ file }: FootageItem, seconds: number | null, { code, message }: ScenedeltaError): void {
    const record: FootageFailure = { v: 1, camera: this.#sequence.camera, file, seconds, code, reason: message };
    this.#records.push({ type: 'failure', record });
    this.#step.countFailure();
  }

  async #save(done: boolean): Promise<void> {
    if (this.#events === 0 && !done) return;
    const { chunk } = this.#checkpoint;
    const { pictures, blobs, records, ...rest } = await this.#step.finishChunk();
    this.#checkpoint = {
      chunk: chunk + 1,
      done,
      position: this.#position,
      account: this.#account,
      overlaps: [...this.#overlaps],
      ...rest,
    };
    const all = [...this.#records, ...records];
    await this.#deps.checkpoints.save({ checkpoint: this.#checkpoint, records: all, pictures, blobs });
    this.#records = [];
    this.#events = 0;
  }
}

const FRAME_FAULTS: readonly string[] = [
  'image-unreadable',
  'image-too-large',
  'image-too-small',
  'frames-differ-in-shape',
  'processing-timeout',
];
const isFaultOfFrame = ({ code }: ScenedeltaError): boolean => FRAME_FAULTS.includes(code);

/** Segments of a recorder share less, and which of both shows such a frame makes no difference. */
const LEAST_OVERLAP_MS = 1_000;
/** Bound of the checkpoint. Frames of earlier overlaps are attributed to the file that began last. */
const MAX_OVERLAPS = 1_000;

/** @returns the file and the presentation time in it of a frame that was processed. @param time its own, epoch ms */
function momentOf({ items }: FootageSequence, overlaps: readonly Overlap[], time: number): Moment {
  // Frames are processed in the order of time, so that later overlaps end later.
  const overlap = overlaps[firstFrom(overlaps.length, (i) => (overlaps[i] as Overlap).until >= time)];
  const isIn = overlap !== undefined && (items[overlap.item] as FootageItem).at <= time;
  const item = isIn
    ? overlap.item
    : Math.max(0, firstFrom(items.length, (i) => (items[i] as FootageItem).at > time) - 1);
  const { file, at, kind } = items[item] as FootageItem;
  return { at: new Date(time).toISOString(), file, seconds: kind === 'image' ? 0 : Math.max(0, (time - at) / 1000) };
}

/** @returns the first index for which it is so, as for all later ones; `length` if it is so for none */
function firstFrom(length: number, isSo: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isSo(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
