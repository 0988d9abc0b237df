/**
 * Loader of fitted.json, the weights and thresholds that `npm run fit:viewpoint` writes. No other file here does I/O.
 */
import { readFileSync } from 'node:fs';
import { Value } from 'typebox/value';
import { type Fitted, FittedSchema } from './scores.js';

/** @throws Error naming the file and its first member that does not fit the schema */
function load(file: URL): Fitted {
  const json: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (Value.Check(FittedSchema, json)) return json;
  const [fault] = Value.Errors(FittedSchema, json);
  throw new Error(`${file.pathname}${fault?.instancePath}: ${fault?.message}`);
}

export const FITTED: Fitted = load(new URL('./fitted.json', import.meta.url));
