/** Output of the clients. Foreign names and answers of servers may hold codes that steer a terminal. */

/** Control characters except line feed and tab, and those that change the direction of a text. */
const STEERING = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
const printable = (text: string): string => text.replace(STEERING, '\ufffd');

export const printLine = (text: string): void => void process.stdout.write(`${printable(text)}\n`);

export const printError = (text: string): void => void process.stderr.write(`${printable(text)}\n`);

/** @param many plural, if it is not the singular with an s. @returns e.g. '1 change', '2 changes' */
export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
