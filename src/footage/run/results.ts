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

export async function gatherResults(run: FinishedRun): Promise<Recording> {
  const { settings, timeZone, cameras, mergeWindowMs } = run;
  const all: FootageChange[] = [];
  const visits: FootageVisit[] = [];
  const gaps: FootageGap[] = [];
  const failures: FootageFailure[] = [...run.failures];
  const warnings: string[] = [...run.warnings];
  const summaries: Recording['summary']['cameras'][number][] = [];
  for (const { camera, checkpoint } of cameras) {
    const records = await recordsOf(run.records(camera, checkpoint.chunk));
    const recorded = [...records.changes.values()];
    const changes = mergeWindowMs === null ? recorded : mergeChanges(recorded, mergeWindowMs);
    all.push(...changes);
    visits.push(...records.visits.values());
    gaps.push(...records.gaps);
    failures.push(...records.failures);
    warnings.push(...records.doubts);
    const { frames, examined } = checkpoint.counts;
    summaries.push({
      camera,
      ...(timeZone === undefined ? {} : { timezone: timeZone }),
      settings: settings(camera),
      files: records.files,
      frames,
      examined,
      changes: changes.length,
      gaps: records.gaps.length,
      failures: records.failures.length,
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
  return { summary, changes: all.sort(compareRecords), visits: visits.sort(compareRecords), gaps, failures };
}

async function recordsOf(lines: AsyncIterable<ChunkRecord>) {
  const records = {
    changes: new Map<string, FootageChange>(),
    visits: new Map<string, FootageVisit>(),
    gaps: [] as FootageGap[],
    failures: [] as FootageFailure[],
    files: [] as FileRecord[],
    doubts: [] as string[],
  };
  for await (const line of lines) {
    if (line.type === 'change') records.changes.set(line.record.id, line.record);
    else if (line.type === 'visit') records.visits.set(line.record.id, line.record);
    else if (line.type === 'gap') records.gaps.push(line.record);
    else if (line.type === 'failure') records.failures.push(line.record);
    else if (line.type === 'doubt') records.doubts.push(line.record);
    else if (line.type === 'file') records.files.push(line.record);
  }
  return records;
}

/** Evidence of every sampled frame: too much to be held in memory. */
export async function* statsOf({ records, cameras }: FinishedRun): AsyncGenerator<FrameStats> {
  for (const { camera, checkpoint } of cameras) {
    for await (const line of records(camera, checkpoint.chunk)) {
      if (line.type === 'frame') yield line.record;
    }
  }
}
