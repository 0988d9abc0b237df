/** Writes the types of the API, openapi/generated/api.d.ts, which console and clients import. */
import { writeApiTypes } from './lib/api-types.mjs';
import { runMain } from './lib/shell.mjs';

await runMain(writeApiTypes);
