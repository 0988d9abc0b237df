/** Output of the commands. Foreign names and answers of servers may hold codes that steer a terminal. */

/** Control characters except line feed and tab, and those that change the direction of a text. */
const STEERING = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** @returns the text, with a replacement character for each one that a terminal would obey */
export const printable = (text: string): string => text.replace(STEERING, '\ufffd');

export const printLine = (text: string): void => void process.stdout.write(`${printable(text)}\n`);

export const printError = (text: string): void => void process.stderr.write(`${printable(text)}\n`);
