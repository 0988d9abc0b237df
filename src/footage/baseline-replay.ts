/**
 * Replay of the baseline: the evidence that a frame would have had if the rules of the dry run had decided what
 * "before" is. The recorded run compared each frame with the "before" of its own rules. With `previous`, "before" is
 * held while a change is undecided, so that other rules hold it for another time.
 *
 * The replay keeps the difference between its "before" and the recorded one. The evidence of a frame is this difference
 * together with the recorded evidence: a thing that the first one added and the second one removed is in neither. Pure.
 */
import type { CameraSettings } from '../cameras/settings.js';
import { isSameLocation } from '../changes/locations.js';
import { OTHER_SIDE } from '../images.js';
import { type Finding, keepRegions, type Region } from '../schemas/comparison.js';
import type { FrameStats } from './records.js';

export class BaselineReplay {
  readonly #mode: CameraSettings['before'];
  /** capture time of the recorded "before"; undefined before the first one */
  #recordedAt: string | null | undefined;
  #examined: { readonly at: string | null; readonly finding: Finding } | null = null;
  /** from the "before" of the replay to the recorded one */
  #difference: Finding = nothing();
  /** the last evidence that shows the scene: against the recorded "before", and against that of the replay */
  #observed: Finding = nothing();
  #composed: Finding = nothing();
  /** the last frame has become the "before" of the replay */
  #replaced = false;

  constructor(mode: CameraSettings['before']) {
    this.#mode = mode;
  }

  reset(): void {
    this.#recordedAt = undefined;
    this.#examined = null;
    this.#difference = nothing();
    this.#observed = nothing();
    this.#composed = nothing();
    this.#replaced = false;
  }

  /** The frame has become the background of its light: an equal one does not differ from it. */
  becomesBefore({ at }: FrameStats): void {
    this.#examined = { at, finding: nothing() };
  }

  /** @returns the unfiltered finding of the frame; null if it had nothing to be compared with */
  findingOf(frame: FrameStats): Finding | null {
    const observed = this.#recordedFinding(frame);
    const before = frame.before?.captured_at;
    if (this.#recordedAt !== undefined) this.#follow(before !== this.#recordedAt);
    this.#recordedAt = before;
    if (observed === null || this.#mode !== 'previous') return observed;
    if (observed.verdict === 'tamper' || observed.verdict === 'nuisance') return observed;
    this.#observed = observed;
    this.#composed = compose(this.#difference, observed);
    return this.#composed;
  }

  /** @param hold Transition.hold of the frame's step */
  afterStep(hold: boolean): void {
    this.#replaced = !hold;
  }

  #recordedFinding(frame: FrameStats): Finding | null {
    const { before, at } = frame;
    if (frame.examined) {
      const finding = frame.finding === null ? null : complete(frame.finding);
      if (finding !== null || before === null) this.#examined = { at, finding: finding ?? nothing() };
      return finding;
    }
    if (this.#examined === null) return null;
    // The last examined frame has become "before" itself: an equal frame does not differ from it.
    const isBefore = this.#mode === 'previous' && before != null && before.captured_at === this.#examined.at;
    return isBefore ? nothing() : this.#examined.finding;
  }

  /** @param recordedMoved the last frame has become the recorded "before" */
  #follow(recordedMoved: boolean): void {
    if (this.#replaced && recordedMoved) this.#difference = nothing();
    else if (this.#replaced) this.#difference = reversed(this.#observed);
    else if (recordedMoved) this.#difference = this.#composed;
    this.#replaced = false;
  }
}

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
