/** The languages that have a table in `tables/`, as two-letter codes of ISO 639-1. */
export const LOCALES = ['en', 'de', 'es', 'fr', 'ja'] as const;
export type Locale = (typeof LOCALES)[number];
