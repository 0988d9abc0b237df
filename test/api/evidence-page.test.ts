/** The page of an evidence package in the language of its reader. */
import { expect, it } from '@jest/globals';
import type { Evidence } from '../../src/api/evidence/collect.js';
import { evidenceData } from '../../src/api/evidence/page-data.js';
import { LOCALES, type Locale } from '../../src/language/locales.js';
import { storedChange } from '../helpers/changes.js';

const TITLES: Readonly<Record<Locale, string>> = {
  en: 'Evidence of gate',
  de: 'Nachweise von gate',
  es: 'Pruebas de gate',
  fr: 'Preuves de gate',
  ja: 'gate の証拠',
};

it.each(LOCALES)('has its headings in %s', (locale) => {
  const change = storedChange({ camera: 'gate' });
  const evidence = { camera: { id: 'gate', name: null }, changes: [change], visits: [], comparisons: [] };
  const clocks = { captured_at: 'a', accepted_at: 'b', made_at: 'c' };
  const about = { subject: { change: change.id }, made_at: '2026-06-01T12:00:00.000Z', scenedelta: '1' };
  const parts = { ...about, clocks, missing: [], pictures: new Map<string, string>() };
  const data = evidenceData(evidence as unknown as Evidence, parts, locale);
  expect(data).toMatchObject({ locale, title: TITLES[locale], sections: [{ title: change.caption, frames: [] }] });
  // A name without a text would be its key.
  expect(JSON.stringify(data)).not.toMatch(/evidence_\w/);
});
