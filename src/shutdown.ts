/** Closing a process in order: what is begun is finished, and no step that hangs or fails keeps the others from happening. */
import { ScenedeltaError } from './errors.js';
import type { Logger } from './logger.js';

export interface ClosingStep {
  readonly name: string;
  readonly close: () => Promise<unknown>;
}

/**
 * SIGTERM or SIGINT closes the steps one after the other and exits 0, or 1 where a step failed, `deadlineMs` passed or a second
 * signal came.
 */
export function closeOnSignals(
  steps: readonly ClosingStep[],
  options: { deadlineMs: number; logger: Logger; exit?: (code: number) => void },
): void {
  const { logger, deadlineMs, exit = (code) => process.exit(code) } = options;
  let closing = false;
  const onSignal = async (signal: NodeJS.Signals) => {
    if (closing) {
      logger.warn({ signal }, 'second signal, ending at once');
      return exit(1);
    }
    closing = true;
    logger.info({ signal, deadlineMs }, 'closing');
    setTimeout(() => {
      logger.error({ deadlineMs }, 'closing took too long, ending at once');
      exit(1);
    }, deadlineMs).unref();
    exit((await closeInOrder(steps, logger)) ? 0 : 1);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/** @returns whether every step closed. */
export async function closeInOrder(steps: readonly ClosingStep[], logger: Logger): Promise<boolean> {
  let allClosed = true;
  for (const { name, close } of steps) {
    try {
      await close();
      logger.debug({ step: name }, 'closed');
    } catch (err) {
      allClosed = false;
      logger.error({ err, step: name }, 'a step of closing failed');
    }
  }
  return allClosed;
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
