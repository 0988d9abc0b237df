/**
 * Compares two files of `scenedelta evaluate --predictions`, pair by pair, and says which fields differ. For a change
 * that must not alter results: everything but the timings must be equal when numbers are rounded to six digits.
 */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { readOptions } from './lib/options.mjs';

/** Decimal digits that must agree; two runs on other processors differ in later ones. */
const DIGITS = 6;

const rounded = (value) => {
  if (typeof value === 'number') return Number(value.toFixed(DIGITS));
  if (Array.isArray(value)) return value.map(rounded);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rounded(item)]));
};

/** @returns the predictions by pair id, rounded and without timings */
function readPredictions(file) {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return new Map(
    lines.map((line) => {
      const { timings_ms: _, ...prediction } = JSON.parse(line);
      return [prediction.id, rounded(prediction)];
    }),
  );
}

/** @returns one line per difference */
function differences(before, after) {
  const lines = [];
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(id), after.get(id)];
    if (old === undefined || now === undefined) {
      lines.push(`${id}: only in ${old === undefined ? 'AFTER' : 'BEFORE'}`);
      continue;
    }
    for (const field of new Set([...Object.keys(old), ...Object.keys(now)])) {
      if (isDeepStrictEqual(old[field], now[field])) continue;
      lines.push(`${id}: ${field}: ${JSON.stringify(old[field])} became ${JSON.stringify(now[field])}`);
    }
  }
  return lines;
}

const { positionals } = readOptions({}, { arguments: ['BEFORE.ndjson', 'AFTER.ndjson'] });
const [before, after] = positionals.map(readPredictions);
const found = differences(before, after);
for (const line of found) console.log(line);
console.log(`${before.size} pairs before, ${after.size} after, ${found.length} differences`);
process.exitCode = found.length === 0 ? 0 : 1;
