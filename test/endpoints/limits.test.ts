/** Requests within the limits of their receivers, and texts that are cut between graphemes. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cut, sizeOf } from '../../src/endpoints/cut.js';
import { escapeChat } from '../../src/endpoints/formats/slack.js';
import { type FormatName, LIMITS } from '../../src/endpoints/limits.js';
import type { EndpointMessage } from '../../src/endpoints/message.js';
import { render } from '../../src/endpoints/render.js';
import { endpointMessage } from '../helpers/endpoints.js';
import { receiverOf, STRICT, textOf } from '../helpers/strict-receivers.js';

const FAMILY = '👨‍👩‍👧‍👦';
const FLAG = '🇯🇵';
/** One of each kind of grapheme that a cut could break, and of characters that grow when they are escaped. */
const PIECES = ['a', ' ', '車が現れました', FAMILY, FLAG, 'é', '葛󠄀', '한', '<', '&', '>', '*', '_', '://', '\r\n', 'ع'];
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((parts) => parts.join(''));
const longText = fc.tuple(text, fc.nat(200)).map(([one, times]) => `x${one.repeat(times)}`);

const bordersOf = (all: string) => [
  ...[...new Intl.Segmenter('und').segment(all)].map(({ index }) => index),
  all.length,
];

describe('A text that is cut', () => {
  it.each([
    ['characters', 11, `ab${FAMILY}cd`, 'ab…'],
    ['characters', 14, `ab${FAMILY}cd`, `ab${FAMILY}…`],
    ['characters', 15, `ab${FAMILY}cd`, `ab${FAMILY}cd`],
    ['bytes', 12, '車が現れました', '車が現…'],
    ['bytes', 21, '車が現れました', '車が現れました'],
    ['characters', 4, `${FLAG}${FLAG}`, '…'],
    ['characters', 5, `${FLAG}${FLAG}`, `${FLAG}…`],
    ['characters', 4, 'ab cd', 'ab…'],
  ] as const)('to %s %i: %j is %j', (unit, most, given, expected) => {
    expect(cut(given, { unit, most })).toBe(expected);
  });

  it('is counted after it was escaped', () => {
    const limit = { most: 10, unit: 'characters' } as const;
    expect(cut('<<<', limit, escapeChat)).toBe('&lt;&lt;…');
    expect(cut('<<', limit, escapeChat)).toBe('&lt;&lt;');
  });

  it('fits, ends at a grapheme, and loses no more than it must', () => {
    const limits = fc.record({ unit: fc.constantFrom('characters' as const, 'bytes' as const), most: fc.nat(400) });
    fc.assert(
      fc.property(longText, limits, (given, { unit, most }) => {
        const limit = { unit, most: most + 3 };
        const shown = cut(given, limit);
        expect(sizeOf(shown, limit)).toBeLessThanOrEqual(limit.most);
        if (shown === given) return;
        const kept = shown.slice(0, -1);
        expect(given.startsWith(kept)).toBe(true);
        const borders = bordersOf(given);
        expect(borders).toContain(kept.length);
        const longer = borders.map((end) => given.slice(0, end).trimEnd()).find((one) => one.length > kept.length);
        // Without one, the rest is white space.
        if (longer !== undefined) expect(sizeOf(`${longer}…`, limit)).toBeGreaterThan(limit.most);
      }),
    );
  });
});

const requestOf = (format: FormatName, message: EndpointMessage) => {
  const request = render(format, message, receiverOf(format));
  return { ...request, text: textOf(request) };
};

describe.each(Object.keys(LIMITS) as FormatName[])('A strict receiver of %s', (format) => {
  it('takes every request, however long names and sentences are', () => {
    const types = fc.constantFrom('change.opened', 'change.reverted', 'endpoint.test' as const);
    const pictures = fc.constantFrom(undefined, Buffer.alloc(4));
    fc.assert(
      fc.property(longText, longText, types, pictures, (caption, cameraName, type, picture) => {
        // The payload of a camera has at most this much of each; the formats for people are given more.
        const most = LIMITS[format].title === null ? 500 : 8_000;
        const message = endpointMessage(type, { caption: caption.slice(0, most) }, { cameraName, jpeg: picture });
        expect(STRICT[format](requestOf(format, message))).toBeUndefined();
      }),
      { numRuns: 40 },
    );
  });

  const { title, body } = LIMITS[format];
  if (title === null || body === null) return;
  it('would refuse one that is not cut', () => {
    const request = requestOf(format, endpointMessage('change.opened', { caption: 'CAPTION' }));
    // Teams and Telegram without a photo take more than formats send.
    const longer = request.text.replaceAll('CAPTION', 'a'.repeat(Math.max(body.most, 28_672) + 1));
    expect(STRICT[format]({ ...request, body: longer, text: longer })).toEqual(expect.any(String));
  });
});
