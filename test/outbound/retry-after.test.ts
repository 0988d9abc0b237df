/** The header Retry-After: seconds or a date, as a delay. */
import { describe, expect, it } from '@jest/globals';
import { parseRetryAfter } from '../../src/outbound/post.js';

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  it.each([
    [undefined, null],
    ['', null],
    ['soon', null],
    ['-5', null],
    ['0', 0],
    ['30', 30_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ])('%j is %j ms', (header, expected) => expect(parseRetryAfter(header, now)).toBe(expected));
});
