/** The option `--locale` of commands that print sentences. */
import { LOCALES, type Locale } from '../language/locales.js';
import { DEFAULT_LOCALE, localeOf } from '../language/translate.js';
import { printError } from './print.js';

export const LOCALE_OPTION = `language of the sentences: ${LOCALES.join(', ')}`;

/** The language of a tag such as "de" or "de-AT". For one without sentences a line says that they are English. */
export function readLocale(tag: string): Locale {
  const locale = localeOf(tag);
  if (locale === undefined) printError(`scenedelta: no sentences in ${JSON.stringify(tag)}, so they are in English`);
  return locale ?? DEFAULT_LOCALE;
}
