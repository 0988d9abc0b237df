/** The templates of the documents, and what the service puts into them. */
import { stat } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { fillTemplate, readTemplate } from '../../src/base/document-template.js';
import { DOCUMENTS, dataOf } from '../helpers/documents.js';

const NAMES = ['report', 'evidence', 'brief'] as const;

it.each(NAMES)('%s weighs at most 90 kB without its data', async (name) => {
  expect((await stat(new URL(`${name}.html`, DOCUMENTS))).size).toBeLessThanOrEqual(90_000);
});

it.each(NAMES)('%s shows its head as text, and no data end their block', async (name) => {
  const hostile = '</script></title><!-- $& {{noscript}} {{data}} "<b>';
  const data = { locale: 'ja', title: hostile, noscript: hostile };
  const page = fillTemplate(await readTemplate(DOCUMENTS, name), data);
  expect(page).toContain('<html lang="ja">');
  expect(page).toContain(
    '<title>&lt;/script&gt;&lt;/title&gt;&lt;!-- $&amp; {{noscript}} {{data}} &quot;&lt;b&gt;</title>',
  );
  expect(dataOf(page)).toEqual(data);
  expect(page.match(/<\/script>/g)).toHaveLength(2);
  expect(page).not.toContain('<!--');
});
