/** Results of a run: the records of all chunks, gathered per camera for the outputs. */
import { VERSION } from '../../base/version.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import { compareRecords, type Recording } from '../outputs/recording.js';
import type { FootageChange, FootageFailure, FootageGap, FootageVisit, FrameStats } from '../records.js';
import type { Checkpoint, ChunkRecord, FileRecord } from './checkpoint.js';
import { mergeChanges } from './merge-changes.js';

export interface FinishedRun {
  /** all records of a camera's finished chunks, in their order */
  readonly records: (camera: string, chunks: number) => AsyncIterable<ChunkRecord>;
  readonly settings: (camera: string) => CameraSettings;
  /** IANA time zone in which the report shows its times; absent: UTC */
  readonly timeZone?: string;
  /** with the last checkpoint of each, in the order of the outputs */
  readonly cameras: readonly { readonly camera: string; readonly checkpoint: FinishedCamera }[];
  /** files that belong to no camera, or that failed before the run */
  readonly failures: readonly FootageFailure[];
  /** of the plan */
  readonly warnings: readonly string[];
  /** ms; null: changes are not merged */
  readonly mergeWindowMs: number | null;
}

type FinishedCamera = Pick<Checkpoint, 'chunk' | 'done' | 'counts' | 'account' | 'model'>;

interface CameraRecords {
  readonly changes: ReadonlyMap<string, FootageChange>;
  readonly visits: ReadonlyMap<string, FootageVisit>;
  readonly gaps: readonly FootageGap[];
  readonly failures: readonly FootageFailure[];
  readonly files: readonly FileRecord[];
  readonly doubts: readonly string[];
}

export async function gatherResults(run: FinishedRun): Promise<Recording> {
  const { settings, timeZone, cameras, failures, mergeWindowMs } = run;
  const all: FootageChange[] = [];
  const visits: FootageVisit[] = [];
  const gaps: FootageGap[] = [];
  const failed: FootageFailure[] = [...failures];
  const warnings: string[] = [...run.warnings];
  const summaries: Recording['summary']['cameras'][number][] = [];
  for (const { camera, checkpoint } of cameras) {
    const records = await recordsOf(run.records(camera, checkpoint.chunk));
    const recorded = [...records.changes.values()];
    const changes = mergeWindowMs === null ? recorded : mergeChanges(recorded, mergeWindowMs);
    all.push(...changes);
    visits.push(...records.visits.values());
    gaps.push(...records.gaps);
    failed.push(...records.failures);
    warnings.push(...records.doubts);
    const { frames, examined } = checkpoint.counts;
    const counts = { frames, examined, changes: changes.length };
    const others = { gaps: records.gaps.length, failures: records.failures.length };
    summaries.push({
      camera,
      ...(timeZone === undefined ? {} : { timezone: timeZone }),
      settings: settings(camera),
      files: [...records.files],
      ...counts,
      ...others,
      account: checkpoint.account,
    });
  }
  const summary = {
    v: 1 as const,
    scenedelta: VERSION,
    complete: cameras.every(({ checkpoint }) => checkpoint.done),
    model: cameras.find(({ checkpoint }) => checkpoint.model !== null)?.checkpoint.model ?? null,
    ...(warnings.length === 0 ? {} : { warnings }),
    cameras: summaries,
  };
  return { summary, changes: all.sort(compareRecords), visits: visits.sort(compareRecords), gaps, failures: failed };
}

async function recordsOf(lines: AsyncIterable<ChunkRecord>): Promise<CameraRecords> {
  const changes = new Map<string, FootageChange>();
  const visits = new Map<string, FootageVisit>();
  const gaps: FootageGap[] = [];
  const failures: FootageFailure[] = [];
  const files: FileRecord[] = [];
  const doubts: string[] = [];
  for await (const line of lines) {
    if (line.type === 'change') changes.set(line.record.id, line.record);
    else if (line.type === 'visit') visits.set(line.record.id, line.record);
    else if (line.type === 'gap') gaps.push(line.record);
    else if (line.type === 'failure') failures.push(line.record);
    else if (line.type === 'doubt') doubts.push(line.record);
    else if (line.type === 'file') files.push(line.record);
  }
  return { changes, visits, gaps, failures, files, doubts };
}

/** Evidence of every sampled frame: too much to be held in memory. */
export async function* statsOf({ records, cameras }: FinishedRun): AsyncGenerator<FrameStats> {
  for (const { camera, checkpoint } of cameras) {
    for await (const line of records(camera, checkpoint.chunk)) {
      if (line.type === 'frame') yield line.record;
    }
  }
}
