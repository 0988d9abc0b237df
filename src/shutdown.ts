/** Closing a process in order: what is begun is finished, and no step that hangs or fails keeps the others from happening. */
import { ScenedeltaError } from './errors.js';
import type { Logger } from './logger.js';

export interface ClosingStep {
  readonly name: string;
  readonly close: () => Promise<unknown>;
  /** So long it may take; without it, as long as the deadline of all leaves. */
  readonly withinMs?: number;
  /** Ends at once what `close` has not ended by then. */
  readonly cut?: () => void;
}

export interface Shutdown {
  /** Resolves at once, or never where closing has begun: a process that is still starting starts nothing more. */
  goOn(): Promise<void>;
}

/**
 * SIGTERM or SIGINT closes the steps one after the other and exits 0, or 1 where a step failed or took too long, `deadlineMs` passed
 * or a second signal came.
 * @param steps may grow at its front, also while they are being closed
 */
export function closeOnSignals(
  steps: ClosingStep[],
  options: {
    deadlineMs: number;
    logger: Logger;
    exit?: (code: number) => void;
    /** who tells of the signals */
    signals?: Pick<NodeJS.EventEmitter, 'on'>;
  },
): Shutdown {
  const { logger, deadlineMs, exit = (code) => process.exit(code), signals = process } = options;
  let closing = false;
  const onSignal = async (signal: NodeJS.Signals) => {
    if (closing) {
      logger.warn({ signal }, 'second signal, ending at once');
      return exit(1);
    }
    closing = true;
    logger.info({ signal, deadlineMs }, 'closing');
    let current: string | undefined;
    setTimeout(() => {
      logger.error({ deadlineMs, step: current }, 'closing took too long, ending at once');
      exit(1);
    }, deadlineMs).unref();
    const allClosed = await closeInOrder(steps, logger, (step) => {
      current = step;
    });
    exit(allClosed ? 0 : 1);
  };
  signals.on('SIGTERM', onSignal);
  signals.on('SIGINT', onSignal);
  return { goOn: () => (closing ? new Promise(() => {}) : Promise.resolve()) };
}

/**
 * Takes the steps off one by one, so that what is begun while others close is closed as well, and nothing twice.
 * @param onStep hears the name of each step before it is closed
 * @returns whether every step closed, in its time.
 */
export async function closeInOrder(
  steps: ClosingStep[],
  logger: Logger,
  onStep: (name: string) => void = () => {},
): Promise<boolean> {
  let allClosed = true;
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const { name } = step;
    onStep(name);
    try {
      await closeInTime(step);
      logger.debug({ step: name }, 'closed');
    } catch (err) {
      allClosed = false;
      logger.error({ err, step: name }, 'a step of closing failed');
    }
  }
  return allClosed;
}

/** @throws Error where it took longer than it may; what it still waits for is cut. */
async function closeInTime({ close, withinMs, cut }: ClosingStep): Promise<void> {
  if (withinMs === undefined) return void (await close());
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      cut?.();
      reject(new Error(`not closed within ${withinMs} ms, given up`));
    }, withinMs);
  });
  try {
    await Promise.race([close(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A process that cannot start or go on says why in one log line and ends with status 1. What somebody can act on (a setting, a
 * bundle) is its message alone; what nobody foresaw brings its stack.
 */
export function endOnFatal(logger: Logger, foreseen: readonly string[] = []): void {
  process.on('uncaughtException', (err) => {
    const isForeseen = err instanceof ScenedeltaError || foreseen.includes(err.name);
    logger.fatal(isForeseen ? {} : { err }, err.message);
    process.exit(1);
  });
}
