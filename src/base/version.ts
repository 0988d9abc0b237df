/** Version and description of this package, as package.json states them. */
import { readFileSync } from 'node:fs';

const { version, description } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
  description: string;
};
export const VERSION = version;
export const DESCRIPTION = description;
