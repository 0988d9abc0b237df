/**
 * Checkpoint of a sequence: all that the next chunk of frames depends on, as plain JSON. A chunk is a pure step from a
 * checkpoint to records and the next checkpoint, so that a repeated chunk gives the same records.
 */
import { type CameraState, initialCameraState } from '../../camera/state/state.js';
import { type Counts, NO_COUNTS } from '../../schemas/batch.js';
import type { ModelUsed } from '../../schemas/comparison.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import { BEGINNING, type Position } from '../inputs/source-frames.js';
import type {
  FootageChange,
  FootageFailure,
  FootageGap,
  FootageVisit,
  FrameStats,
  Moment,
  Outline,
  ShownSighting,
} from '../records.js';
import { EMPTY_ACCOUNT, type FrameAccount } from './frame-account.js';
import type { Votes } from './votes.js';

/** Both frames of a comparison that a tracked change may refer to. */
export interface ComparedFrames {
  readonly before: StoredFrameRef;
  readonly after: StoredFrameRef;
  /** of all its regions */
  readonly outlines: readonly Outline[];
  /** of `after` */
  readonly moment: Moment;
}

/** A video that still showed frames when the next file began. */
export interface Overlap {
  /** index in the sequence */
  readonly item: number;
  /** capture time of its last frame so far, epoch ms */
  readonly until: number;
}

export interface Checkpoint {
  /** number of finished chunks */
  readonly chunk: number;
  /** no frame is left */
  readonly done: boolean;
  readonly position: Position;
  readonly state: CameraState;
  /** by the id of the comparison */
  readonly compared: Readonly<Record<string, ComparedFrames>>;
  /** sentences of the tracked locations */
  readonly votes: Votes;
  /** the sightings of the tracked and the settled changes, by the id of the change */
  readonly shown: Readonly<Record<string, ShownSighting>>;
  readonly counts: Counts;
  readonly account: FrameAccount;
  /** in the order of the files; absent: none */
  readonly overlaps?: readonly Overlap[];
  readonly model: Pick<ModelUsed, 'name' | 'version' | 'sha256'> | null;
}

export const initialCheckpoint = (): Checkpoint => ({
  chunk: 0,
  done: false,
  position: BEGINNING,
  state: initialCameraState(),
  compared: {},
  votes: {},
  shown: {},
  counts: NO_COUNTS,
  account: EMPTY_ACCOUNT,
  model: null,
});

/** A finding of a chunk, in the order of time. A later record of a change or a visit replaces the earlier one. */
export type ChunkRecord =
  | { readonly type: 'frame'; readonly record: FrameStats }
  | { readonly type: 'change'; readonly record: FootageChange }
  | { readonly type: 'visit'; readonly record: FootageVisit }
  | { readonly type: 'gap'; readonly record: FootageGap }
  | { readonly type: 'failure'; readonly record: FootageFailure }
  | { readonly type: 'doubt'; readonly record: string }
  | { readonly type: 'file'; readonly record: FileRecord };

/** A file that was read to its end. */
export interface FileRecord {
  readonly file: string;
  /** capture time, ISO 8601 */
  readonly at: string;
  /** seconds; null of an image or if unknown */
  readonly duration: number | null;
}

/** A picture for the outputs. */
export interface PictureFile {
  /** path relative to the folder of the outputs */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A finished chunk, to be saved as one step: all of it or nothing. */
interface FinishedChunk {
  readonly checkpoint: Checkpoint;
  readonly records: readonly ChunkRecord[];
  readonly pictures: readonly PictureFile[];
  /** blobs that the checkpoint refers to, by key */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

export interface CheckpointStore {
  /** @returns undefined before the first chunk */
  load(): Promise<{ readonly checkpoint: Checkpoint; readonly blobs: ReadonlyMap<string, Uint8Array> } | undefined>;
  save(chunk: FinishedChunk): Promise<void>;
}
