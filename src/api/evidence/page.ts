/** The page of an evidence package: its sentences, times, models and frames, for a browser without a network. Pure. */
import { escapeHtml } from '../../base/escape-html.js';
import { SIDES, type Side } from '../../base/images.js';
import type { Locale } from '../../language/locales.js';
import { textIn, translated } from '../../language/translate.js';
import type { EvidenceManifest } from '../../schemas/evidence.js';
import type { Evidence } from './collect.js';

interface PageParts extends Pick<EvidenceManifest, 'subject' | 'clocks' | 'missing' | 'made_at' | 'scenedelta'> {
  /** path of each kept frame, by '<comparison>-<side>' */
  readonly pictures: ReadonlyMap<string, string>;
}
type Row = readonly [name: string, value: string | number | null | undefined];

const POLICY = "default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'";
const STYLE =
  ':root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}' +
  'h2{margin:2rem 0 0}dl{display:grid;grid-template-columns:max-content 1fr;gap:0 1rem}dd{margin:0;overflow-wrap:anywhere}' +
  '.pair{display:grid;grid-template-columns:1fr 1fr;gap:1rem}figure{margin:0}img{max-width:100%}';

/** @param locale language of the headings and sentences; the records beside the page stay in English */
export function evidencePage(evidence: Evidence, parts: PageParts, locale: Locale): string {
  const { camera, changes, visits, comparisons } = translated(evidence, locale);
  const { pictures, clocks, missing, subject, ...about } = parts;
  const text = (key: string, values?: Readonly<Record<string, string>>) =>
    textIn(locale, key === '' ? 'evidence' : `evidence_${key}`, values);
  const section = (title: string, facts: readonly Row[], more = '') =>
    `<section><h2>${escapeHtml(title)}</h2>${rows(facts.map(([name, value]) => [text(name), value]))}${more}</section>`;
  const figure = (side: Side, path: string | undefined) => {
    const name = text(side);
    const shown = path === undefined ? '' : `<img src="${escapeHtml(path)}" alt="${escapeHtml(name)}">`;
    const caption = path === undefined ? text('not_kept', { side: name }) : name;
    return `<figure>${shown}<figcaption>${escapeHtml(caption)}</figcaption></figure>`;
  };
  const sections = [
    ...changes.map((change) =>
      section(change.caption, [
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
        ['comparisons', Object.values(change.comparisons).join(', ')],
      ]),
    ),
    ...visits.map((visit) =>
      section(visit.caption, [
        ['visit', visit.id],
        ['first_seen', visit.first_seen],
        ['last_seen', visit.last_seen],
        ['gone', visit.gone && `${visit.gone.after} – ${visit.gone.before}`],
        ['identity', visit.identity],
        ['best', `${visit.best.comparison} (${visit.best.side}), ${visit.best.at}`],
      ]),
    ),
    ...comparisons.map(({ comparison }) =>
      section(
        text('comparison', { id: comparison.id }),
        [
          ['captured', comparison.camera_frame?.captured_at],
          ['sentence', comparison.caption],
          ['confidence', comparison.confidence],
          ['model', comparison.model && `${comparison.model.name} ${comparison.model.version}`],
          ['sha256', comparison.model?.sha256],
        ],
        `<div class="pair">${SIDES.map((side) => figure(side, pictures.get(`${comparison.id}-${side}`))).join('')}</div>`,
      ),
    ),
  ];
  const title = text('', { camera: camera.name ?? camera.id });
  return [
    `<!doctype html><html lang="${locale}"><head><meta charset="utf-8">`,
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><h1>${escapeHtml(title)}</h1>`,
    rows([
      ...[...Object.entries(subject), ...Object.entries(about)].map(([name, value]): Row => [text(name), value]),
      ...Object.keys(clocks).map((field): Row => [text('clock', { field }), text(`clock_${field}`)]),
    ]),
    ...missing.map((sentence) => `<p>${escapeHtml(sentence)}</p>`),
    ...sections,
    '</body></html>\n',
  ].join('\n');
}

const rows = (facts: readonly Row[]) =>
  `<dl>${facts
    .filter(([, value]) => value != null)
    .map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(String(value))}</dd>`)
    .join('')}</dl>`;
