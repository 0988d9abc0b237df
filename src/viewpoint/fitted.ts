/**
 * Loader of fitted.json, the weights and thresholds that `npm run fit:viewpoint` writes. No other file here does I/O.
 */
import { readFileSync } from 'node:fs';
import type { Fitted } from './fitted-schema.js';

export const FITTED: Fitted = JSON.parse(readFileSync(new URL('./fitted.json', import.meta.url), 'utf8'));
