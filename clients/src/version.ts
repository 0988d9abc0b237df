/** Version of the package that these clients are built in. */
import { readFileSync } from 'node:fs';

const PACKAGE = new URL('../../package.json', import.meta.url);
export const VERSION = (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string }).version;
