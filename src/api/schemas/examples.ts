/** Examples of bodies, shown by the OpenAPI file and /docs. A test checks openapi/examples.json against the schemas. */
import { readFileSync } from 'node:fs';

type Examples = Readonly<
  Record<string, Readonly<Record<string, { readonly summary: string; readonly value: object }>>>
>;

const examples = JSON.parse(readFileSync(new URL('../../../openapi/examples.json', import.meta.url), 'utf8'));
export const REQUEST_EXAMPLES: Examples = examples.requests;
export const RESPONSE_EXAMPLES: Examples = examples.responses;
