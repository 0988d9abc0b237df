/**
 * Ordered shutdown of a process: work that has begun is finished, and a step that hangs or fails does not keep the
 * others from closing.
 */
import { ScenedeltaError } from '../base/errors.js';
import type { Logger } from './logger.js';

export interface ClosingStep {
  readonly name: string;
  readonly close: () => Promise<unknown>;
  /** limit in ms; without it, the step may take as long as the deadline of the whole shutdown leaves */
  readonly withinMs?: number;
  /** ends at once what `close` has not ended by then */
  readonly cut?: () => void;
}

/**
 * On SIGTERM or SIGINT, closes the steps one after the other and exits 0. The status is 1 after a failed or late
 * step, after `deadlineMs`, and after a second signal.
 * @param options.signals emits the signals; the process by default
 * @returns how to add further steps, which are closed before the ones that are there
 */
export function closeOnSignals(
  steps: ClosingStep[],
  options: {
    deadlineMs: number;
    logger: Logger;
    exit?: (code: number) => void;
    signals?: Pick<NodeJS.EventEmitter, 'on'>;
  },
) {
  const { logger, deadlineMs, exit = (code) => process.exit(code), signals = process } = options;
  let closing = false;
  const onSignal = async (signal: NodeJS.Signals) => {
    if (closing) {
      logger.warn({ signal }, 'second signal, exiting at once');
      return exit(1);
    }
    closing = true;
    logger.info({ signal, deadlineMs }, 'closing');
    let current: string | undefined;
    setTimeout(() => {
      logger.error({ deadlineMs, step: current }, 'closing took too long, exiting at once');
      exit(1);
    }, deadlineMs).unref();
    const allClosed = await closeInOrder(steps, logger, (step) => {
      current = step;
    });
    exit(allClosed ? 0 : 1);
  };
  signals.on('SIGTERM', onSignal);
  signals.on('SIGINT', onSignal);
  return {
    /** Closes a part of the process before all parts that began earlier. */
    onShutdown: (name: string, close: () => Promise<unknown>): void => void steps.unshift({ name, close }),
    /** Resolves at once, or never if closing has begun: a process that is still starting must start nothing more. */
    haltIfClosing: (): Promise<void> => (closing ? new Promise(() => {}) : Promise.resolve()),
  };
}

/**
 * Removes the steps one by one, so that a step added during the shutdown is closed as well, and none twice.
 * @param onStep receives the name of each step before it is closed
 * @returns whether every step closed in time.
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

/** @throws Error if the step took longer than its limit; `cut` has been called then. */
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
 * Ends the process with status 1 and one log line on an uncaught exception. An error that an operator can act on (a
 * setting, a bundle) is logged by its message alone, any other with its stack.
 * @param foreseen names of further error classes of the first kind
 */
export function endOnFatal(logger: Logger, foreseen: readonly string[] = []): void {
  process.on('uncaughtException', (err) => {
    const isForeseen = err instanceof ScenedeltaError || foreseen.includes(err.name);
    logger.fatal(isForeseen ? {} : { err }, err.message);
    process.exit(1);
  });
}
