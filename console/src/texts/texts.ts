/**
 * The texts of the page in the language of its reader. The English text is the key of each table, so that English needs
 * none. Text in braces is replaced; "one|others" has a form for each number that the language distinguishes by `n`.
 */
import { type ComponentChild, Fragment, h } from 'preact';
import { LOCALES, type Locale } from '../../../src/language/locales.js';

type Table = Readonly<Record<string, string>>;
const tables = import.meta.glob<{ readonly default: Table }>('./*.json');
const KEPT = 'language';
const FALLBACK: Locale = 'en';

const wanted = localStorage.getItem(KEPT);
const isLocale = (code: string): code is Locale => LOCALES.some((locale) => locale === code);
const ofBrowser = navigator.languages.map((tag) => tag.split('-')[0] ?? '');
const preferred = wanted === null ? ofBrowser : [wanted];

/** Language of the page if the reader has chosen none. */
export const automaticLocale: Locale = ofBrowser.find(isLocale) ?? FALLBACK;
/** Language of the page. It stays until the page is loaded again. */
export const locale: Locale = preferred.find(isLocale) ?? FALLBACK;
/** The first language of the browser, by its own name, if no language of the browser has a table; else null. */
export const missingLanguage: string | null =
  preferred[0] === undefined || preferred.some(isLocale)
    ? null
    : (new Intl.DisplayNames([preferred[0]], { type: 'language' }).of(preferred[0]) ?? preferred[0]);

let table: Table = {};
const plural = new Intl.PluralRules(locale);

/** Before any other part of the page, because constants of modules have texts. */
export async function loadTexts(): Promise<void> {
  document.documentElement.lang = locale;
  table = (await tables[`./${locale}.json`]?.())?.default ?? {};
}

/** @param chosen null: as the browser asks */
export function chooseLanguage(chosen: Locale | null): void {
  if (chosen === null) localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, chosen);
  location.reload();
}

/** Language that the reader has chosen; null: that of the browser. */
export const chosenLanguage = wanted !== null && isLocale(wanted) ? wanted : null;

const number = new Intl.NumberFormat(locale);

function formOf(text: string, n: unknown): string {
  const [one = '', others = one] = (table[text] ?? text).split('|');
  return typeof n === 'number' && plural.select(n) === 'one' ? one : others;
}

/** @param values of the braces; numbers are written as the language writes them */
export function t(text: string, values: Readonly<Record<string, string | number>> = {}): string {
  return formOf(text, values.n).replace(/\{(\w+)\}/g, (_all, name: string) => {
    const value = values[name] ?? '';
    return typeof value === 'number' ? number.format(value) : value;
  });
}

/** As t, with elements for some of the braces. */
export function tx(text: string, values: Readonly<Record<string, ComponentChild>>): ComponentChild {
  const parts = formOf(text, values.n).split(/\{(\w+)\}/);
  return h(Fragment, null, ...parts.map((part, i) => (i % 2 === 0 ? part : values[part])));
}
