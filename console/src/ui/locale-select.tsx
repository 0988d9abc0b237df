/** Choice of a language, by the names that the languages have for themselves. */
import { LOCALES, type Locale } from '../../../src/language/locales.js';

/** @returns the name that the language has for itself */
export const languageName = (locale: Locale): string =>
  new Intl.DisplayNames([locale], { type: 'language' }).of(locale) ?? locale;

interface Props {
  readonly label: string;
  /** path of the setting that it edits */
  readonly setting?: string;
  readonly value: Locale | null;
  /** the choice of no language */
  readonly none: string;
  readonly onValue: (value: Locale | null) => void;
}

export const LocaleSelect = ({ label, setting = '', value, none, onValue }: Props) => (
  <label>
    {label}
    <select
      name={setting}
      value={value ?? ''}
      onChange={(event) => onValue(LOCALES.find((locale) => locale === event.currentTarget.value) ?? null)}
    >
      <option value="">{none}</option>
      {LOCALES.map((locale) => (
        <option key={locale} value={locale}>
          {languageName(locale)}
        </option>
      ))}
    </select>
  </label>
);
