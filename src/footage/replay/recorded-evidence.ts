/**
 * Evidence of a recorded frame, as it would be if the rules of a dry run had decided what "before" is. The recorded run
 * compared each frame with the "before" of its own rules. With `previous`, "before" is held while a change is
 * undecided, so that other rules hold it for another time.
 *
 * The replay keeps the difference between its "before" and the recorded one. The evidence of a frame is this difference
 * together with the recorded evidence: a thing that the first one added and the second one removed is in neither. Pure.
 */
import { OTHER_SIDE } from '../../base/images.js';
import { isSameLocation } from '../../camera/changes/locations.js';
import type { FrameEvidence } from '../../camera/fold/evidence.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import type { CameraState } from '../../camera/state/state.js';
import type { Finding, Region } from '../../schemas/comparison.js';
import { keepRegions } from '../../schemas/finding.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import type { FrameStats } from '../records.js';

interface RecordedFinding {
  /** unfiltered; null: the frame had nothing to be compared with */
  readonly finding: Finding | null;
  /** with which it was made; null: that of the bundle */
  readonly threshold: number | null;
}

export class RecordedEvidence {
  readonly #mode: CameraSettings['before'];
  /** capture time of the recorded "before"; undefined before the first one */
  #recordedAt: string | null | undefined;
  #examined: (RecordedFinding & { readonly at: string | null; readonly finding: Finding }) | null = null;
  /** from the "before" of the replay to the recorded one */
  #difference: Finding = nothing();
  /** the last evidence that shows the scene: against the recorded "before", and against that of the replay */
  #observed: Finding = nothing();
  #composed: Finding = nothing();

  constructor(mode: CameraSettings['before']) {
    this.#mode = mode;
  }

  /** @param state of the replay before the frame */
  of(frame: FrameStats, state: Pick<CameraState, 'before' | 'last'>): FrameEvidence {
    const reset = frame.reset === 'before' || frame.reset === 'both';
    const replacedBackground = frame.reset === 'after' || frame.reset === 'both';
    if (reset) this.#restart();
    const { finding, threshold } = this.#against(frame, state);
    if (replacedBackground) {
      this.#restart();
      // The frame has become the background of its light: an equal one does not differ from it.
      this.#examined = { at: frame.at, finding: nothing(), threshold: null };
    }
    const content = String(frame.number);
    const isTurned = reset && finding?.verdict === 'tamper';
    const before = frame.before ?? null;
    const learnedAt = before?.captured_at ?? null;
    return {
      content,
      identical: false,
      frame: named(content),
      examined: frame.examined,
      finding,
      threshold,
      excluded: null,
      ...(isTurned ? { otherView: { frame: named(content), frames: 3, confirmed: true } } : {}),
      baseline: {
        before: before && { frame: named(learnedAt ?? ''), at: learnedAt === null ? null : Date.parse(learnedAt) },
        candidate: this.#mode === 'previous' ? { kind: 'frame' } : { kind: 'recorded', replacedBackground },
        size: { size: null },
        notes: [],
        reset,
        skipped: finding === null && !reset,
      },
    };
  }

  #restart(): void {
    this.#recordedAt = undefined;
    this.#examined = null;
    this.#difference = nothing();
    this.#observed = nothing();
    this.#composed = nothing();
  }

  /** The finding against the "before" of the replay. */
  #against(frame: FrameStats, { before: kept, last }: Pick<CameraState, 'before' | 'last'>): RecordedFinding {
    const recorded = this.#recorded(frame);
    const { finding, threshold } = recorded;
    const before = frame.before?.captured_at;
    const replaced = last !== null && kept?.frame.sha256 === last.sha256;
    if (this.#recordedAt !== undefined) this.#follow(replaced, before !== this.#recordedAt);
    this.#recordedAt = before;
    if (finding === null || this.#mode !== 'previous') return recorded;
    if (finding.verdict === 'tamper' || finding.verdict === 'nuisance') return recorded;
    this.#observed = finding;
    this.#composed = compose(this.#difference, finding);
    return { finding: this.#composed, threshold };
  }

  #recorded(frame: FrameStats): RecordedFinding {
    const { before, at, threshold } = frame;
    if (frame.examined) {
      const finding = frame.finding === null ? null : complete(frame.finding);
      if (finding !== null || before === null) this.#examined = { at, finding: finding ?? nothing(), threshold };
      return { finding, threshold };
    }
    if (this.#examined === null) return { finding: null, threshold };
    // The last examined frame has become "before" itself: an equal frame does not differ from it.
    const isBefore = this.#mode === 'previous' && before != null && before.captured_at === this.#examined.at;
    return isBefore ? { finding: nothing(), threshold } : this.#examined;
  }

  /**
   * @param replaced the last frame has become the "before" of the replay
   * @param recordedMoved it has become the recorded one
   */
  #follow(replaced: boolean, recordedMoved: boolean): void {
    if (replaced && recordedMoved) this.#difference = nothing();
    else if (replaced) this.#difference = reversed(this.#observed);
    else if (recordedMoved) this.#difference = this.#composed;
  }
}

/** A recorded frame has no bytes here: its number or its time names it. */
const named = (name: string): StoredFrameRef => ({ from: 'stored', sha256: name, bytes: 0, contentType: '' });

/** The difference of two frames, from their differences from a third one between them. */
function compose(first: Finding, second: Finding): Finding {
  if (first.regions.length === 0) return second;
  const [kept, added] = [without(first, second), without(second, first)];
  if (kept.regions.length === 0 && added.regions.length === 0) return nothing();
  const offset = kept.regions.length;
  const shift = (id: number) => id + offset;
  const sources = [kept, added].filter(({ regions }) => regions.length > 0);
  const shifted = <T extends { readonly regions: readonly number[] }>(of: readonly T[] = []) =>
    of.map((one) => ({ ...one, regions: one.regions.map(shift) }));
  return {
    ...added,
    verdict: 'change',
    kind: sources.length === 1 ? (sources[0] as Finding).kind : 'multi',
    confidence: Math.max(...sources.map(({ confidence }) => confidence)),
    regions: [...kept.regions, ...added.regions.map((region) => ({ ...region, id: shift(region.id) }))],
    statements: [...(kept.statements ?? []), ...shifted(added.statements)],
    facts: [...(kept.facts ?? []), ...shifted(added.facts)],
  };
}

/** Without the things that the other difference undoes: they lie at the same location of the other side. */
function without(finding: Finding, other: Finding): Finding {
  const isUndone = (region: Region) =>
    other.regions.some((one) => one.side !== region.side && isSameLocation([tracked(one)], [tracked(region)]));
  if (!finding.regions.some(isUndone)) return finding;
  return { ...finding, ...keepRegions(finding, (region) => (isUndone(region) ? null : region)) };
}

/** The difference in the other direction. No statement and no fact applies to it. */
function reversed(finding: Finding): Finding {
  const regions = finding.regions.map((region) => ({ ...region, side: OTHER_SIDE[region.side] }));
  return { ...finding, kind: regions.length > 0 ? 'multi' : 'none', regions, statements: [], facts: [] };
}

const tracked = ({ side, box, area, score }: Region) => ({ side, box, area, score, zone: null });

/** The members of a finding that the evidence leaves out; the change tracker reads none of them. */
const complete = (finding: NonNullable<FrameStats['finding']>): Finding => ({
  ...finding,
  words: [],
  severity: 'info',
  model: null,
});

const nothing = (): Finding =>
  complete({ verdict: 'none', kind: 'none', nuisance: [], caption: '', caption_score: 1, confidence: 0, regions: [] });
