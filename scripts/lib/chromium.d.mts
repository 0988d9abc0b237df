/** @returns the program's path, or undefined if there is none */
export function findChromium(): string | undefined;
