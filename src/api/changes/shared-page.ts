/** Data of the page that a link to one change opens: the page of evidence, with a single record. Pure. */
import type { Side } from '../../base/images.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import type { Locale } from '../../language/locales.js';
import { textIn, translated } from '../../language/translate.js';
import type { Change } from '../../schemas/change.js';
import type { EvidenceData, Facts } from '../../schemas/documents.js';

interface Shared {
  readonly change: Change;
  /** undefined: it has been removed since */
  readonly camera: StoredCamera | undefined;
  /** epoch ms at which the link ends */
  readonly until: number;
  /** addresses of its pictures, relative to the page: the one with the outline, and the frames */
  readonly pictures: Readonly<Record<'outlined' | Side, string>>;
}

export function sharedData({ change: stored, camera, until, pictures }: Shared, locale: Locale): EvidenceData {
  const change = translated(stored, locale);
  const { name = null, schedule = null } = camera?.settings ?? {};
  const written = new Intl.DateTimeFormat(locale, {
    dateStyle: 'long',
    timeStyle: 'long',
    timeZone: schedule?.timezone ?? 'UTC',
  });
  const time = (key: string, at: string | number | null): Facts =>
    at === null ? [] : [[textIn(locale, key), written.format(new Date(at))]];
  const { outlined, before, after } = pictures;
  const frames = [
    [textIn(locale, 'shared_where'), outlined],
    [textIn(locale, 'evidence_before'), before],
    [textIn(locale, 'evidence_after'), after],
  ] as const;
  return {
    locale,
    title: textIn(locale, 'shared', { camera: name ?? change.camera }),
    noscript: textIn(locale, 'shared_noscript'),
    facts: time('shared_until', until),
    missing: [],
    sections: [
      {
        title: change.caption,
        facts: [
          ...time('evidence_first_seen', change.first_seen),
          ...time('evidence_last_seen', change.last_seen),
          ...time('evidence_gone', change.reverted_at),
        ],
        frames: frames.map(([text, path]) => ({ name: text, path })),
      },
    ],
  };
}

/** The page of a link that has ended: no word of it is about the change. */
export const endedData = (locale: Locale): EvidenceData => ({
  locale,
  title: textIn(locale, 'shared_ended'),
  noscript: textIn(locale, 'shared_ended'),
  facts: [],
  missing: [textIn(locale, 'shared_ended_why')],
  sections: [],
});
