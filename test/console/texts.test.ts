/** The texts of the console in each language: complete, the chosen one alone is loaded, and pages stay small. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parse } from '@babel/parser';
import type { Page } from 'playwright-core';
import { globSync } from 'tinyglobby';
import { LOCALES } from '../../src/language/locales.js';
import { CHANGE_STATUSES, FILTER_KINDS, SEVERITIES } from '../../src/schemas/kinds.js';
import { TAMPERS } from '../../src/schemas/loss.js';
import { NUISANCES } from '../../src/viewpoint/scores.js';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { cameraApi } from '../helpers/camera-api.js';
import { storedChange } from '../helpers/changes.js';
import { useConsole } from '../helpers/console-service.js';

const MOST_BYTES = 60_000;
/** Values of the API that the page shows as words. */
const WORDS = [
  ...SEVERITIES,
  ...FILTER_KINDS,
  ...CHANGE_STATUSES,
  ...[...NUISANCES, ...TAMPERS].map((name) => name.replaceAll('_', ' ')),
  ...['certain', 'uncertain', 'gone', 'unseen', 'open', 'ended'],
  ...['translation', 'synonym', 'wider', 'narrower', 'spelling'],
  ...['queued', 'running', 'completed', 'failed', 'cancelled', 'pending', 'delivered'],
  ...['active', 'failing', 'disabled', 'stopped', 'include', 'ignore', 'privacy'],
  ...['waiting', 'prioritized', 'delayed'],
];

interface Node {
  readonly type: string;
  readonly callee?: { readonly name?: string };
  readonly arguments?: readonly Node[];
  readonly value?: string;
  readonly left?: Node;
  readonly right?: Node;
}

/** @returns the text of a literal, or of literals that are joined by + */
function textOf({ type, value, left, right }: Node): string | undefined {
  if (type === 'StringLiteral') return value;
  if (type !== 'BinaryExpression' || left === undefined || right === undefined) return undefined;
  const [first, second] = [textOf(left), textOf(right)];
  return first === undefined || second === undefined ? undefined : first + second;
}

/** @returns the first arguments of t and tx in the sources */
function keysOf(file: string): string[] {
  const found: string[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, callee, arguments: given } = node as Node;
    const text = given?.[0] && textOf(given[0]);
    if (type === 'CallExpression' && ['t', 'tx'].includes(callee?.name ?? '') && text !== undefined) found.push(text);
    Object.values(node).forEach(walk);
  };
  walk(parse(readFileSync(file, 'utf8'), { sourceType: 'module', plugins: ['typescript', 'jsx'] }).program);
  return found;
}

const tables = Object.fromEntries(
  globSync('console/src/texts/*.json').map((file) => [
    basename(file, '.json'),
    JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>,
  ]),
);

describe('The tables of texts', () => {
  const keys = [...new Set([...globSync('console/src/**/*.{ts,tsx}').flatMap(keysOf), ...WORDS])].sort();

  it('are those of all languages but English', () => {
    expect(['en', ...Object.keys(tables)].sort()).toEqual([...LOCALES].sort());
  });

  it.each(LOCALES.filter((locale) => locale !== 'en'))('%s has each text of the page, and no other', (locale) => {
    expect(Object.keys(tables[locale] ?? {}).sort()).toEqual(keys);
  });

  it.each(Object.keys(tables))('%s has the slots and as many forms as the language distinguishes', (locale) => {
    const slots = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort();
    const forms = locale === 'ja' ? 1 : 2;
    for (const [key, text] of Object.entries(tables[locale] ?? {})) {
      expect([key, slots(text)]).toEqual([key, slots(key)]);
      expect([key, text.split('|').length]).toEqual([key, key.includes('|') ? forms : 1]);
    }
  });
});

const { open, service } = await useConsole();
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true, level: 1 });

describeInBrowser('The language of the page', () => {
  it('is that of the browser, also in sentences and times, until the reader chooses another', async () => {
    const comparison = await service.addComparison({}, 'gate');
    const comparisons = { first: comparison, best: comparison, last: comparison };
    service.addChange(storedChange({ name: 'car', camera: 'gate', comparisons, confirmed: Date.UTC(2026, 4, 1) }));
    const zones = [{ id: 'dock', type: 'include', polygon: [[0, 0], [1, 0], [1, 1]] }]; // biome-ignore format: short
    await cameraApi(() => service).put('gate', { zones });
    const { page, errors } = await open({ locale: 'de-AT' });
    const tablesAsked: string[] = [];
    page.on('request', (request) => {
      const [, name] = /\/assets\/(de|es|fr|ja)-/.exec(request.url()) ?? [];
      if (name !== undefined) tablesAsked.push(name);
    });
    const asked = page.waitForRequest((request) => request.url().includes('/v1/changes?'));
    await page.goto(`${service.url}/review`);
    await heading(page, 'Änderungen').waitFor();
    expect(await page.getAttribute('html', 'lang')).toBe('de');
    expect((await asked).headers()['accept-language']).toBe('de');
    await page.getByText('1 Änderung', { exact: false }).first().waitFor();
    await page.getByText(/^vor /).first().waitFor();
    expect(await inspect(page, 'review-de')).toEqual([]);
    await page.goto(`${service.url}/cameras/gate`);
    await page.getByText('einschließen', { exact: true }).waitFor();
    expect(await page.getByLabel('Alarm ab').innerText()).toMatch(/^Info\s+niedrig\s+mittel\s+hoch$/);
    await page.goto(`${service.url}/system`);
    await page.getByText('vorgezogen').waitFor();
    expect(await inspect(page, 'system-de')).toEqual([]);
    await page.goto(`${service.url}/review`);
    await page.getByLabel(/^Sprache/).selectOption('ja');
    await heading(page, '変化').waitFor();
    await page.goto(`${service.url}/cameras`);
    await heading(page, 'カメラ').waitFor();
    expect(await page.getAttribute('html', 'lang')).toBe('ja');
    expect(await inspect(page, 'cameras-ja')).toEqual([]);
    expect(new Set(tablesAsked)).toEqual(new Set(['de', 'ja']));
    await page.getByLabel(/^言語/).selectOption('');
    await heading(page, 'Kameras').waitFor();
    expect(errors).toEqual([]);
  });

  it('is English, and says so, for a language without a table', async () => {
    const { page } = await open({ locale: 'pt-BR' });
    await page.goto(service.url);
    await page.getByText('There are no texts in português: this page is in English.').waitFor();
    expect(await page.getAttribute('html', 'lang')).toBe('en');
  });

  it(`keeps each page below ${MOST_BYTES / 1000} kB, compressed, also in the language with the largest table`, async () => {
    const bytesOf = (locale: string) => gzipSync(JSON.stringify(tables[locale])).length;
    const [largest = ''] = Object.keys(tables).sort((a, b) => bytesOf(b) - bytesOf(a));
    for (const locale of ['en', largest]) {
      const { page } = await open({ locale });
      for (const path of ['/try', '/review', '/cameras', '/wall', '/footage', '/endpoints', '/system']) {
        await page.goto('about:blank');
        await page.goto(service.url + path);
        await page.locator('h1').first().waitFor();
        const bytes = (await page.evaluate(`performance.getEntriesByType('resource')
          .filter(({ name }) => /\\/assets\\/.*\\.(js|css)$/.test(name))
          .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`)) as number;
        expect([locale, path, bytes > 20_000, bytes < MOST_BYTES]).toEqual([locale, path, true, true]);
      }
      await page.context().close();
    }
  });
});
