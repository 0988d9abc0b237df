/** Data of the page of an evidence package: its sentences, times, models and frames. Pure. */
import { SIDES } from '../../base/images.js';
import type { Locale } from '../../language/locales.js';
import { textIn, translated } from '../../language/translate.js';
import type { EvidenceData, Facts } from '../../schemas/documents.js';
import type { EvidenceManifest } from '../../schemas/evidence.js';
import type { Evidence } from './collect.js';

interface PageParts extends Pick<EvidenceManifest, 'subject' | 'clocks' | 'missing' | 'made_at' | 'scenedelta'> {
  /** path of each kept frame, by '<comparison>-<side>' */
  readonly pictures: ReadonlyMap<string, string>;
}
type Row = readonly [name: string, value: string | number | null | undefined];

/** @param locale language of the headings and sentences; the records beside the page stay in English */
export function evidenceData(evidence: Evidence, parts: PageParts, locale: Locale): EvidenceData {
  const { camera, changes, visits, comparisons } = translated(evidence, locale);
  const { pictures, clocks, missing, subject, ...about } = parts;
  const text = (key: string, values?: Readonly<Record<string, string>>) =>
    textIn(locale, key === '' ? 'evidence' : `evidence_${key}`, values);
  const named = (rows: readonly Row[]): Facts =>
    rows.flatMap(([name, value]) => (value == null ? [] : [[text(name), String(value)] as const]));
  const framesOf = (comparison: string) =>
    SIDES.map((side) => {
      const path = pictures.get(`${comparison}-${side}`) ?? null;
      return { name: path === null ? text('not_kept', { side: text(side) }) : text(side), path };
    });
  return {
    locale,
    title: text('', { camera: camera.name ?? camera.id }),
    noscript: text('noscript'),
    facts: [
      ...named(Object.entries({ ...subject, ...about })),
      ...Object.keys(clocks).map((field) => [text('clock', { field }), text(`clock_${field}`)] as const),
    ],
    missing,
    sections: [
      ...changes.map((change) => ({
        title: change.caption,
        facts: named([
          ['change', change.id],
          ['kind', change.object?.value ?? change.kind],
          ['severity', change.severity],
          ['confidence', change.confidence],
          ['first_seen', change.first_seen],
          ['confirmed', change.confirmed_at],
          ['last_seen', change.last_seen],
          ['settled', change.settled_at],
          ['gone', change.reverted_at],
          ['judged', change.feedback?.judgement],
          ['comparisons', [...new Set(Object.values(change.comparisons))].join(', ')],
        ]),
        frames: [],
      })),
      ...visits.map((visit) => ({
        title: visit.caption,
        facts: named([
          ['visit', visit.id],
          ['first_seen', visit.first_seen],
          ['last_seen', visit.last_seen],
          ['gone', visit.gone && `${visit.gone.after} – ${visit.gone.before}`],
          ['identity', visit.identity],
          ['best', `${visit.best.comparison} (${visit.best.side}), ${visit.best.at}`],
        ]),
        frames: [],
      })),
      ...comparisons.map(({ comparison }) => ({
        title: text('comparison', { id: comparison.id }),
        facts: named([
          ['captured', comparison.camera_frame?.captured_at],
          ['sentence', comparison.caption],
          ['confidence', comparison.confidence],
          ['model', comparison.model && `${comparison.model.name} ${comparison.model.version}`],
          ['sha256', comparison.model?.sha256],
        ]),
        frames: framesOf(comparison.id),
      })),
    ],
  };
}
