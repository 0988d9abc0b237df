/** @returns the program's path, or undefined if there is none */
export function findMosquitto(): string | undefined;
/** @returns the program's path, or undefined if there is none */
export function findNginx(): string | undefined;
