/** The sentence of a digest: "Between 20:05 and 20:25: 12 people and 3 cars." Pure. */
import type { DigestStatement } from '../schemas/digest.js';
import type { Locale } from './locales.js';
import { type Table, tableOf } from './table.js';

export function writeDigest({ counts, from, to }: DigestStatement, locale: Locale = 'en'): string {
  const table = tableOf(locale);
  const things = new Intl.ListFormat(locale, { type: 'conjunction' }).format(counts.map((one) => counted(one, table)));
  return filled(table.texts.digest ?? '', { from, to, things });
}

/** "12 people", "12 Personen"; "2 changes" for things without a name. */
function counted({ noun, count }: DigestStatement['counts'][number], { texts, nouns }: Table): string {
  if (noun === null) {
    const [one = '', many = one] = (texts['report.change_count'] ?? '').split('|');
    return filled(count === 1 ? one : many, { n: String(count) });
  }
  const { one = noun, many, counter = '' } = nouns[noun] ?? { many: `${noun}s` };
  return filled(texts.digest_thing ?? '', { n: String(count), noun: count === 1 ? one : (many ?? one), counter });
}

const filled = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replace(/\{(\w+)\}/g, (slot, name) => values[name] ?? slot);
