/** One sampled frame of a sequence: the step of the live camera, with its evidence and its changes as records. */
import { frameKey } from '../../base/blobs.js';
import { forgetSettled } from '../../camera/changes/advance.js';
import type { FrameDependencies } from '../../camera/fold/examine.js';
import type { FoldedFrame } from '../../camera/fold/fold.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import type { CameraState } from '../../camera/state/state.js';
import { openVisits } from '../../camera/visits/visit.js';
import type { DecodeLimits } from '../../frames/header.js';
import { type Counts, eachCount } from '../../schemas/batch.js';
import type { ChangeUpdate, FoundChange } from '../../schemas/change.js';
import type { Finding } from '../../schemas/comparison.js';
import { isForeign } from '../../schemas/loss.js';
import type { Visit, VisitEvent } from '../../schemas/visit.js';
import type { SourceFrame } from '../inputs/source-frames.js';
import type { FootageGap, FrameStats, Moment } from '../records.js';
import { ChangePictures } from './change-pictures.js';
import { ChangeSightings } from './change-sightings.js';
import type { Checkpoint, ChunkRecord } from './checkpoint.js';
import { footageChange } from './footage-change.js';
import { footageVisit } from './footage-visit.js';
import { FramePreviews } from './frame-previews.js';
import { MemoryBlobs } from './memory-blobs.js';
import { type SourceStepContext, stepSource } from './source-step.js';

export interface FrameStepDependencies {
  readonly pipeline: FrameDependencies['pipeline'];
  readonly decodeLimits: DecodeLimits;
  /** @param time capture time, epoch ms */
  readonly momentOf: (time: number) => Moment;
}

export class FrameStep {
  readonly #camera: StoredCamera;
  readonly #deps: FrameStepDependencies;
  readonly #blobs = new MemoryBlobs();
  readonly #previews = new FramePreviews();
  readonly #context: Omit<SourceStepContext, 'signal'>;
  readonly #pictures: ChangePictures;
  #state: CameraState;
  readonly #sightings: ChangeSightings;
  #counts: Counts;
  #model: Checkpoint['model'];

  constructor(camera: StoredCamera, checkpoint: Checkpoint, deps: FrameStepDependencies) {
    this.#camera = camera;
    this.#deps = deps;
    this.#pictures = new ChangePictures(deps.decodeLimits);
    const { pipeline, decodeLimits } = deps;
    this.#context = { camera, pipeline, decodeLimits, blobs: this.#blobs, previews: this.#previews };
    this.#state = checkpoint.state;
    this.#sightings = new ChangeSightings(checkpoint);
    this.#counts = checkpoint.counts;
    this.#model = checkpoint.model;
  }

  get counts(): Counts {
    return this.#counts;
  }

  async restore(blobs: ReadonlyMap<string, Uint8Array>): Promise<void> {
    for (const [key, bytes] of blobs) {
      if (!this.#previews.restore(key, bytes)) await this.#blobs.put(key, bytes);
    }
  }

  countFailure(): void {
    this.#count({ failures: 1 });
  }

  /** @returns the parts of the next checkpoint, and what is to be saved with it (`records` last) */
  async finishChunk() {
    const open: ChunkRecord[] = [];
    for (const visit of openVisits(this.#state.visits, this.#camera.id)) {
      open.push(await this.#visit(visit));
    }
    const kept = this.#blobs.retain(new Set([...this.#references()].map(frameKey)));
    return {
      pictures: this.#pictures.take(),
      blobs: new Map([...kept, ...this.#previews.blobs()]),
      records: [...this.#settledChanges(), ...open],
      state: this.#state,
      ...this.#sightings.state,
      counts: this.#counts,
      model: this.#model,
    };
  }

  /**
   * @param gapFrom capture time of the last frame before a gap, epoch ms: this frame is not compared with earlier ones;
   *   null: no gap
   * @throws ScenedeltaError as stepSequence does; the state stays as it was
   */
  async process(source: SourceFrame, gapFrom: number | null, signal: AbortSignal): Promise<ChunkRecord[]> {
    const { momentOf } = this.#deps;
    const { at } = source;
    const number = this.#state.frames;
    const processed = await stepSource(source, gapFrom, this.#state, { ...this.#context, signal });
    this.#state = processed.state;
    const { evidence, after } = processed;
    // To a replay, a foreign picture is compared with nothing.
    const compared = evidence.examined && !isForeign(evidence.finding) ? evidence.finding : null;
    const { tracker, examined: last } = processed.state;
    const { before, heatmaps, finding } = processed;
    this.#sightings.see(
      {
        comparison: processed.comparisonId,
        moment: momentOf(at),
        finding,
        compared: after === null || before === null ? null : { before, after, heatmaps },
        equals: processed.cameraFrame.nothing_new_since?.comparison,
      },
      tracker.tracks,
    );
    const changes = [...(await this.#changes(processed.changes)), ...(await this.#visits(processed.visits))];
    if (gapFrom !== null) {
      changes.push(...this.#settledChanges());
      this.#state = { ...processed.state, tracker: forgetSettled(tracker) };
    }
    const { tracks, ended } = this.#state.visits;
    const best = [...tracks, ...ended.map(({ track }) => track)].map((track) => track.best.comparison);
    this.#sightings.forget(this.#state.tracker, last?.comparison, this.#camera.settings.alerts.left_after_s > 0, best);
    this.#blobs.retain(new Set([...this.#references()].map(frameKey)));
    if (processed.finding.model !== null) {
      const { name, version, sha256 } = processed.finding.model;
      this.#model = { name, version, sha256 };
    }
    this.#count({
      frames: 1,
      examined: compared === null ? 0 : 1,
      changes: processed.changes.filter(({ event }) => event === 'change.opened').length,
      visits: processed.visits.filter(({ type }) => type === 'visit.opened').length,
      gaps: gapFrom === null ? 0 : 1,
    });
    const stats: FrameStats = {
      v: 1,
      camera: this.#camera.id,
      number,
      ...momentOf(at),
      seconds: source.seconds,
      time: at,
      examined: after !== null,
      score: processed.score,
      before: processed.cameraFrame.before,
      ...resetOf(processed.reset, gapFrom !== null),
      finding: compared === null ? null : evidenceOf(compared),
      ...(evidence.seen === undefined ? {} : { seen: [...evidence.seen] }),
      threshold: compared === null ? null : evidence.threshold,
    };
    return [
      ...(gapFrom === null ? [] : [{ type: 'gap' as const, record: this.#gap(gapFrom, at) }]),
      { type: 'frame', record: stats },
      ...changes,
    ];
  }

  async #changes(updates: readonly ChangeUpdate[]): Promise<ChunkRecord[]> {
    const records: ChunkRecord[] = [];
    for (const { change } of updates) {
      const { shown, frames } = this.#sightings.show(change);
      if (frames !== undefined) {
        await this.#keepPicture(shown.pictures.before, frames.before.sha256);
        await this.#keepPicture(shown.pictures.after, frames.after.sha256);
      }
      records.push(this.#change(change, shown));
    }
    return records;
  }

  #change(change: FoundChange, shown: Parameters<typeof footageChange>[2]): ChunkRecord {
    const { locale } = this.#camera.settings;
    return { type: 'change', record: footageChange(change, this.#deps.momentOf, shown, locale) };
  }

  async #visits(events: readonly VisitEvent[]): Promise<ChunkRecord[]> {
    const records: ChunkRecord[] = [];
    for (const { type, visit } of events) {
      if (type !== 'visit.opened') records.push(await this.#visit(visit));
    }
    return records;
  }

  async #visit(visit: Visit): Promise<ChunkRecord> {
    const frames = this.#sightings.framesOf(visit.best.comparison);
    const { locale, schedule } = this.#camera.settings;
    const timeZone = schedule?.timezone ?? null;
    const { record, frame } = footageVisit(visit, this.#deps.momentOf, frames, locale, timeZone);
    if (frame !== null) await this.#keepPicture(record.shown?.picture ?? null, frame.sha256);
    return { type: 'visit', record };
  }

  /** Records of the settled changes that were seen after their last report. */
  #settledChanges(): ChunkRecord[] {
    return this.#state.tracker.settled.flatMap(({ change, reportedAt }): ChunkRecord[] => {
      const shown = this.#sightings.shownOf(change.id);
      if (shown === undefined || Date.parse(change.last_seen) === reportedAt) return [];
      return [this.#change(change, shown)];
    });
  }

  async #keepPicture(name: string | null, sha256: string): Promise<void> {
    const bytes = await this.#blobs.get(frameKey(sha256));
    if (bytes !== undefined && name !== null) await this.#pictures.keep(name, sha256, bytes);
  }

  /** Hashes of all frames that the state refers to. */
  *#references(): Generator<string> {
    const { before, backgrounds } = this.#state;
    if (before !== null) yield before.frame.sha256;
    for (const background of Object.values(backgrounds)) if (background !== undefined) yield background.frame.sha256;
    for (const frames of Object.values(this.#sightings.state.compared)) {
      yield frames.before.sha256;
      yield frames.after.sha256;
    }
    if (this.#camera.reference !== null) yield this.#camera.reference.sha256;
  }

  #gap(from: number, to: number): FootageGap {
    const { momentOf } = this.#deps;
    const seconds = (to - from) / 1000;
    return { v: 1, camera: this.#camera.id, from: momentOf(from), to: momentOf(to), seconds };
  }

  #count(added: Partial<Counts>): void {
    this.#counts = eachCount((name) => this.#counts[name] + (added[name] ?? 0));
  }
}

function evidenceOf(finding: Finding): FrameStats['finding'] {
  const { verdict, kind, nuisance, caption, caption_score, confidence, regions, statements, facts } = finding;
  const stated = { ...(statements === undefined ? {} : { statements }), ...(facts === undefined ? {} : { facts }) };
  return { verdict, kind, nuisance, caption, caption_score, confidence, regions, ...stated };
}

/** @returns nothing if "before" stayed */
export function resetOf({ before, after }: FoldedFrame['reset'], gap: boolean): Pick<FrameStats, 'reset' | 'gap'> {
  if (!before && !after) return gap ? { gap } : {};
  return { reset: before && after ? 'both' : before ? 'before' : 'after', gap };
}
