/**
 * Prints 200 sentences of a language, one per line with its number and the English one, for a reader who knows it:
 * node scripts/write-sentences.mjs de
 */
import { LOCALES } from '../dist/language/locales.js';
import { tableOf } from '../dist/language/table.js';
import { sentenceIn } from '../dist/language/translate.js';
import { write } from '../dist/language/write.js';
import { coveringStatements } from './lib/covering.mjs';
import { runMain, Stop } from './lib/shell.mjs';

await runMain(async () => {
  const [locale] = process.argv.slice(2);
  if (!LOCALES.includes(locale)) throw new Stop(`usage: node scripts/write-sentences.mjs ${LOCALES.join('|')}`);
  coveringStatements(tableOf('en')).forEach((one, i) => {
    const inLanguage = (code) => ('verb' in one ? write(one, { locale: code }) : sentenceIn('', one, code));
    console.log(`${i + 1}. ${inLanguage(locale)}\n    ${inLanguage('en')}`);
  });
});
