/**
 * Comparisons of the frames to come, made while the loop waits for the one before. The frames ahead go through the
 * same step as in the loop, with guessed findings: nothing changes. A guess names a "before" and starts the comparison
 * with it. The loop takes what was made for exactly its input, and compares anything else itself, so that its records
 * do not depend on the guesses (ADR 110).
 */
import type { LimitFunction } from 'p-limit';
import { frameKey } from '../../base/blobs.js';
import type { FrameDependencies } from '../../camera/fold/examine.js';
import type { CameraState } from '../../camera/fold/state.js';
import { identicalFinding } from '../../pipeline/finding.js';
import type { Comparer, PairInput, PairOutput } from '../../pipeline/pair.js';
import type { SourceEvent } from '../inputs/source-frames.js';
import { MemoryBlobs } from './memory-blobs.js';
import { type SourceStepContext, stepSource } from './source-step.js';

/** Events in view per comparison at a time: most frames are quiet and need none. */
const IN_VIEW = 8;
/** Events without a comparison ahead after one that was not used; twice as many after each further one. */
const LEAST_REST = 4;
/** Frames at working size take 1.4 MB each. */
const MOST_IN_VIEW = 64;

/** The loop after an event. */
export interface Reached {
  readonly state: CameraState;
  readonly context: Omit<SourceStepContext, 'signal'>;
  /** capture time of the last frame, epoch ms */
  readonly at: number | null;
}

export interface Ahead {
  /** comparisons ahead at a time; 1: none, because the loop compares that one itself. It may change during a run */
  readonly limit: LimitFunction;
  /** compares ahead with the output of the pipeline, or rejects; absent: the pipeline itself */
  readonly compare?: Comparer['compare'];
}

export interface LookAheadOptions extends Ahead {
  readonly pipeline: FrameDependencies['pipeline'];
  /** @returns SequenceRun's gap before a frame */
  readonly gapBefore: (at: number, last: number | null) => number | null;
  readonly reached: () => Reached;
  readonly signal: AbortSignal;
}

interface Made {
  readonly output: Promise<PairOutput>;
  readonly controller: AbortController;
  isStarted: boolean;
  /** the loop waits for it */
  isTaken: boolean;
  /** the guess that asked for it last */
  guess: number;
  /** of the frame */
  readonly event: number;
}

/** A run of guesses from a state that the loop has reached. */
interface Guess {
  readonly number: number;
  /** of the next event */
  event: number;
  state: CameraState;
  at: number | null;
  readonly context: SourceStepContext;
  /** by the number of the event: the state after it, as far as the next guesses depend on it */
  readonly states: Map<number, string>;
  isRunning: boolean;
}

export class LookAhead {
  readonly #options: LookAheadOptions;
  readonly #made = new Map<string, Made>();
  #upcoming: Promise<IteratorResult<SourceEvent, void>>[] = [];
  /** number of the first upcoming event */
  #first = 0;
  #guess: Guess | null = null;
  #guesses = 0;
  /** events to rest after the next comparison that is not used */
  #rest = LEAST_REST;
  /** number of the first event after the rest */
  #rested = 0;

  constructor(options: LookAheadOptions) {
    this.#options = options;
  }

  /** That of the loop, which takes the comparisons that were made ahead. */
  get pipeline(): FrameDependencies['pipeline'] {
    const { pipeline } = this.#options;
    return {
      operatingPoints: (model) => pipeline.operatingPoints(model),
      compare: async (input) => {
        const key = keyOf(input);
        const made = this.#made.get(key);
        if (made?.isStarted) {
          made.isTaken = true;
          // An error ahead may be due to the number of comparisons at a time.
          const output = await made.output.catch(() => null);
          this.#rest = LEAST_REST;
          if (output !== null) return output;
        }
        made?.controller.abort();
        const output = pipeline.compare(input);
        const controller = new AbortController();
        this.#made.set(key, { output, controller, isStarted: true, isTaken: true, guess: 0, event: this.#first });
        return output;
      },
    };
  }

  /** @returns the same events; the next one is asked for when the loop has handled the last */
  async *watch(events: AsyncGenerator<SourceEvent, void>): AsyncGenerator<SourceEvent, void> {
    const ask = () => {
      const inView = this.#isLooking ? Math.min(MOST_IN_VIEW, IN_VIEW * this.#options.limit.concurrency) : 1;
      while (this.#upcoming.length < inView) {
        const event = events.next();
        event.catch(() => {});
        this.#upcoming.push(event);
      }
    };
    let isHandedOver = false;
    try {
      for (;;) {
        ask();
        this.#follow();
        const next = await (this.#upcoming[0] as Promise<IteratorResult<SourceEvent, void>>);
        if (next.done) return;
        isHandedOver = true;
        yield next.value;
        isHandedOver = false;
        this.#upcoming.shift();
        this.#first++;
      }
    } finally {
      this.#guess = null;
      this.#drop(() => true);
      // The loop releases what it was given, also if it ends with that.
      const left = this.#upcoming.slice(isHandedOver ? 1 : 0);
      this.#upcoming = [];
      await events.return();
      for (const event of await Promise.allSettled(left)) {
        if (event.status === 'fulfilled' && !event.value.done && event.value.value.type === 'frame')
          event.value.value.frame.release();
      }
    }
  }

  get #isLooking(): boolean {
    return this.#options.limit.concurrency > 1;
  }

  /** Before each event of the loop: goes on with the guesses, or begins again where they were wrong. */
  #follow(): void {
    if (!this.#isLooking) this.#guess = null;
    const guess = this.#guess;
    const handled = this.#first - 1;
    this.#drop(({ event }) => event <= handled);
    const expected = guess?.states.get(handled);
    guess?.states.delete(handled);
    if (!this.#isLooking) return;
    if (guess === null || expected !== essenceOf(this.#options.reached().state)) this.#guessFrom(this.#first);
    else void this.#run(guess);
  }

  #guessFrom(event: number): void {
    const { reached, signal, pipeline } = this.#options;
    const { state, at, context } = reached();
    const number = ++this.#guesses;
    this.#drop(({ isStarted }) => !isStarted);
    const guessing: FrameDependencies['pipeline'] = {
      operatingPoints: (model) => pipeline.operatingPoints(model),
      compare: async (input) => {
        this.#make(input, guess);
        return { finding: guessOf(guess.state, input), heatmaps: null, timings: {} };
      },
    };
    const blobs = new MemoryBlobs(context.blobs);
    const guess: Guess = {
      ...{ number, event, state, at, states: new Map(), isRunning: false },
      context: { ...context, pipeline: guessing, blobs, previews: context.previews.copy(), signal },
    };
    this.#guess = guess;
    void this.#run(guess);
  }

  /** Guesses as far as events are in view. */
  async #run(guess: Guess): Promise<void> {
    if (guess.isRunning) return;
    guess.isRunning = true;
    try {
      for (;;) {
        const upcoming = this.#upcoming[guess.event - this.#first];
        if (upcoming === undefined) break;
        const next = await upcoming;
        if (this.#guess !== guess || next.done) return;
        await this.#step(guess, next.value);
        if (this.#guess !== guess) return;
      }
      this.#drop(({ guess: asked, isTaken }) => asked !== guess.number && !isTaken);
    } catch {
      // The loop meets the same error at this event, and guesses begin behind it.
      return;
    } finally {
      guess.isRunning = false;
    }
  }

  async #step(guess: Guess, event: SourceEvent): Promise<void> {
    if (event.type === 'frame') {
      const { frame } = event;
      const { gapBefore } = this.#options;
      const stepped = await stepSource(frame, gapBefore(frame.at, guess.at), guess.state, guess.context);
      guess.state = stepped.state;
      guess.at = frame.at;
      guess.context.blobs.retain(new Set([...framesOf(guess.state)].map(frameKey)));
    } else if (event.type === 'damage') guess.at = event.damage.at;
    guess.states.set(guess.event, essenceOf(guess.state));
    guess.event++;
  }

  #make(input: PairInput, { number, event }: Guess): void {
    const key = keyOf(input);
    const present = this.#made.get(key);
    if (present !== undefined) {
      present.guess = number;
      return;
    }
    if (event < this.#rested) return;
    const { limit, pipeline, signal } = this.#options;
    const { compare = (given: PairInput) => pipeline.compare(given) } = this.#options;
    const controller = new AbortController();
    const either = AbortSignal.any([signal, controller.signal]);
    const output = limit(() => {
      either.throwIfAborted();
      made.isStarted = true;
      return compare({ ...input, signal: either });
    });
    const made: Made = { output, controller, isStarted: false, isTaken: false, guess: number, event };
    output.catch(() => {});
    this.#made.set(key, made);
  }

  #drop(isDropped: (made: Made) => boolean): void {
    for (const [key, made] of this.#made) {
      if (!isDropped(made)) continue;
      this.#made.delete(key);
      made.controller.abort();
      if (!made.isStarted || made.isTaken || made.event < this.#rested) continue;
      this.#rested = made.event + this.#rest;
      this.#rest = Math.min(MOST_IN_VIEW, 2 * this.#rest);
    }
  }
}

/** All that the output depends on, but the settings of the pipeline. */
const keyOf = ({ beforeKey, afterKey, model, camera, threshold, truth, statements }: PairInput): string =>
  JSON.stringify([beforeKey, afterKey, model, camera, threshold, truth, statements]);

/** The finding if nothing changes: that of the last examined frame, unless it has become "before" itself. */
function guessOf({ examined }: CameraState, { beforeKey }: PairInput) {
  const isRepeated = examined?.before === beforeKey && examined?.frame.sha256 !== beforeKey;
  return (isRepeated ? examined?.finding : null) ?? identicalFinding();
}

function* framesOf({ before, backgrounds }: CameraState): Generator<string> {
  if (before !== null) yield before.frame.sha256;
  for (const background of Object.values(backgrounds)) if (background !== undefined) yield background.frame.sha256;
}

/** Which frames the next ones will be compared with, and whether quiet ones are examined. */
const essenceOf = (state: CameraState): string =>
  JSON.stringify([
    ...[state.frames, state.examined?.frame.sha256, ...framesOf(state)],
    ...state.tracker.tracks.map(({ stage, missed }) => [stage, missed > 0]),
  ]);
