/**
 * One look of the companion: lists the recorder's events, compares the frame before each finished one with the frame
 * after it, and writes the sentence as the description of the event.
 */
import { Failure } from '../failure.js';
import type { Progress } from './progress-file.js';
import { descriptionOf, type Recorder, type RecorderEvent } from './recorder.js';

/** Ends every description that the companion wrote, so that it knows its own from those of people. */
export const MARK = ' (scenedelta)';

export interface LookOptions {
  /** ids; empty: all */
  readonly cameras: readonly string[];
  /** time between the event and each of the two frames, s */
  readonly gapSeconds: number;
  /** compares and prints, and writes neither descriptions nor progress */
  readonly dryRun: boolean;
}

export interface LookDependencies {
  readonly recorder: Recorder;
  /** @returns the sentence. @throws Failure; 'refused': these frames cannot be compared */
  readonly compare: (before: Uint8Array, after: Uint8Array) => Promise<string>;
  /** waits until another event may be compared */
  readonly pace: () => Promise<void>;
  /** seconds since 1970 */
  readonly now: () => number;
  readonly print: (line: string) => void;
  /** called after each event that was handled */
  readonly save: (progress: Progress) => Promise<void>;
  readonly signal: AbortSignal;
}

/** A recorder writes a recording in parts; the last of them is complete after this time, s. */
const RECORDING_DELAY = 30;
/** An event without recordings is given up after this time, s. */
const FRAMES_WITHIN = 600;
/** An event that did not end, or whose frames the recorder fails to send, is given up after this time, s. */
const TRIED_WITHIN = 6 * 3600;
/** A recorder may list an event some time after its beginning, s. */
const LISTED_WITHIN = 600;

/**
 * @returns the progress after the look
 * @throws Failure of the list of events, of a missing login, or of the service; the handled events are saved
 */
export async function lookOnce(from: Progress, options: LookOptions, deps: LookDependencies): Promise<Progress> {
  const handled = new Map(Object.entries(from.handled));
  /** beginnings of the events that a later look must see */
  const pending: number[] = [];
  const progress = (): Progress => {
    const after = Math.max(from.after, Math.min(deps.now() - LISTED_WITHIN, ...pending.map((at) => at - 1)));
    return { v: 1, after, handled: Object.fromEntries([...handled].filter(([, at]) => at >= after)) };
  };
  for (let after = from.after; ; ) {
    const { events, unreadable, full } = await deps.recorder.events(after, options.cameras);
    if (unreadable > 0) deps.print(`${unreadable} events that the recorder lists cannot be read`);
    const unseen = events.filter(({ id }) => !handled.has(id));
    for (const event of unseen) {
      if (deps.signal.aborted) return progress();
      if (await handleEvent(event, options, deps)) {
        handled.set(event.id, event.start_time);
        // Until the page is done, its later events must stay ahead.
        if (!options.dryRun) await deps.save({ v: 1, after: from.after, handled: Object.fromEntries(handled) });
      } else {
        pending.push(event.start_time);
      }
    }
    const last = events.at(-1)?.start_time;
    if (!full || last === undefined || last <= after) break;
    after = last;
  }
  const reached = progress();
  if (!options.dryRun) await deps.save(reached);
  return reached;
}

/**
 * @returns whether the event is done with: described, or not to be described
 * @throws Failure 'unauthorized', and of `compare` any but 'refused': the other events would fare no better
 */
async function handleEvent(event: RecorderEvent, options: LookOptions, deps: LookDependencies): Promise<boolean> {
  const say = (text: string) => deps.print(`${event.camera} ${event.id}: ${text}`);
  const { end_time: end } = event;
  if (end == null) return deps.now() - event.start_time > TRIED_WITHIN;
  if (descriptionOf(event) !== '') return true;
  if (deps.now() < end + options.gapSeconds + RECORDING_DELAY) return false;
  const ofThisEvent = (thrown: unknown): boolean => {
    if (!(thrown instanceof Failure) || thrown.kind === 'unauthorized') throw thrown;
    const givenUp = thrown.kind !== 'unavailable' || deps.now() - end > TRIED_WITHIN;
    say(`${givenUp ? 'skipped' : 'tried again later'}: ${thrown.message}`);
    return givenUp;
  };
  await deps.pace();
  const frames = await framesAround(event, end, options, deps).catch(ofThisEvent);
  if (typeof frames === 'boolean') return frames;
  const { before, after } = frames;
  if (before === undefined || after === undefined) {
    if (deps.now() - end < FRAMES_WITHIN) return false;
    say(`skipped: there is no recording ${before === undefined ? 'before' : 'after'} it`);
    return true;
  }
  const sentence = await deps.compare(before, after).catch((thrown: unknown) => {
    if (thrown instanceof Failure && thrown.kind === 'refused') return ofThisEvent(thrown);
    throw thrown;
  });
  if (typeof sentence === 'boolean') return sentence;
  return describe(event, sentence, { say, dryRun: options.dryRun }, deps).catch(ofThisEvent);
}

const framesAround = async (
  { camera, start_time }: RecorderEvent,
  end: number,
  { gapSeconds }: LookOptions,
  { recorder }: LookDependencies,
) => ({
  before: await recorder.frame(camera, start_time - gapSeconds),
  after: await recorder.frame(camera, end + gapSeconds),
});

async function describe(
  { id }: RecorderEvent,
  sentence: string,
  { say, dryRun }: { say: (text: string) => void; dryRun: boolean },
  { recorder }: LookDependencies,
): Promise<boolean> {
  if (dryRun) {
    say(`would be described: ${sentence}`);
    return true;
  }
  // A person may have written meanwhile.
  const now = await recorder.event(id);
  if (now === undefined || descriptionOf(now) !== '') {
    say(now === undefined ? 'skipped: it was deleted' : 'skipped: it has a description now');
    return true;
  }
  await recorder.describe(id, `${sentence}${MARK}`);
  say(sentence);
  return true;
}
