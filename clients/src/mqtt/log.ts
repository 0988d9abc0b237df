/** The log of the publisher: one line per event on standard error, with its values as JSON. */
import { systemClock } from '../clock.js';
import { printError } from '../print.js';

export type Log = (text: string, values?: Readonly<Record<string, unknown>>) => void;

export const printLog: Log = (text, values) =>
  printError(
    `${new Date(systemClock()).toISOString()} ${text}${values === undefined ? '' : ` ${JSON.stringify(values)}`}`,
  );
