/** Choice of a language, by the names that the languages have for themselves. */
import { LOCALES, type Locale } from '../../../src/language/locales.js';

interface Props {
  readonly label: string;
  readonly value: Locale | null;
  /** the choice of no language */
  readonly none: string;
  readonly onValue: (value: Locale | null) => void;
}

export const LocaleSelect = ({ label, value, none, onValue }: Props) => (
  <label>
    {label}
    <select
      value={value ?? ''}
      onChange={(event) => onValue(LOCALES.find((locale) => locale === event.currentTarget.value) ?? null)}
    >
      <option value="">{none}</option>
      {LOCALES.map((locale) => (
        <option key={locale} value={locale}>
          {new Intl.DisplayNames([locale], { type: 'language' }).of(locale)}
        </option>
      ))}
    </select>
  </label>
);
