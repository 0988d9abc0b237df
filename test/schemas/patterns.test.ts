/** The published patterns, which clients check in their own dialects of regular expressions. */
import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { parseDocument, visit } from 'yaml';
import { LABEL_PATTERN, NAME_PATTERN, NOT_BLANK_PATTERN, onOneLine, URL_PATTERN } from '../../src/schemas/patterns.js';

it('have nothing that stands for other characters in other dialects', async () => {
  const patterns = new Set<string>();
  visit(parseDocument(await readFile('openapi/openapi.yaml', 'utf8')), {
    Map: (_key, map) => {
      const found = map.get('pattern');
      if (typeof found === 'string') patterns.add(found);
    },
  });
  expect(patterns.size).toBeGreaterThan(10);
  const outsideOfClasses = (pattern: string) => pattern.replace(/\[(?:\\.|[^\]\\])*\]|\\\W/g, '');
  for (const pattern of patterns) {
    expect(pattern).not.toMatch(/\\[sSwWdDbBpPAzZ]/);
    expect(outsideOfClasses(pattern)).not.toMatch(/[.\\]|\(\?[^:]/);
  }
});

it.each([
  [LABEL_PATTERN, ['a', 'north yard', 'é'], ['', ' a', 'a ', 'a\rb', 'a\nb', '\u00a0a', 'a\u202eb']],
  [NAME_PATTERN, ['', 'Gate 3 – 北門'], ['a\rb', 'a\nb', 'a\0', 'a\u0085', 'a\u2028b', 'a\u202eb', 'a\u2066']],
  [URL_PATTERN, ['https://a.example/b?c=d'], ['https://a b', 'ftp://a', 'https://']],
  [NOT_BLANK_PATTERN, [' a '], ['', ' \t\u3000']],
])('%s', (pattern, fitting, other) => {
  // Validators differ in these flags.
  for (const flags of ['', 'u', 's']) {
    const found = new RegExp(pattern, flags);
    for (const text of fitting) expect(text).toMatch(found);
    for (const text of other) expect(text).not.toMatch(found);
  }
});

it('puts a text on one line', () => expect(onOneLine('a\r\nb\u202ec')).toBe('a b c'));
