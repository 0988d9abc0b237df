/** Writes the types of the API and its description as JSON: openapi/generated. */
import { writeApiTypes } from './lib/api-types.mjs';
import { runMain } from './lib/shell.mjs';

await runMain(writeApiTypes);
