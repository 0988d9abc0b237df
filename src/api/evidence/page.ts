/** The page of an evidence package: its sentences, times, models and frames, for a browser without a network. Pure. */
import { escapeHtml } from '../../escape-html.js';
import { SIDES } from '../../images.js';
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

export function evidencePage({ camera, changes, visits, comparisons }: Evidence, parts: PageParts): string {
  const { pictures, clocks, missing, subject, ...about } = parts;
  const sections = [
    ...changes.map((change) =>
      section(change.caption, [
        ['change', change.id],
        ['kind', change.object?.value ?? change.kind],
        ['severity', change.severity],
        ['confidence', change.confidence],
        ['first seen', change.first_seen],
        ['confirmed', change.confirmed_at],
        ['last seen', change.last_seen],
        ['settled', change.settled_at],
        ['gone', change.reverted_at],
        ['judged', change.feedback?.judgement],
        ['comparisons', Object.values(change.comparisons).join(', ')],
      ]),
    ),
    ...visits.map((visit) =>
      section(visit.caption, [
        ['visit', visit.id],
        ['first seen', visit.first_seen],
        ['last seen', visit.last_seen],
        ['gone', visit.gone && `${visit.gone.after} to ${visit.gone.before}`],
        ['identity', visit.identity],
        ['best frame', `${visit.best.comparison} (${visit.best.side}), ${visit.best.at}`],
      ]),
    ),
    ...comparisons.map(({ comparison }) =>
      section(
        `Comparison ${comparison.id}`,
        [
          ['captured', comparison.camera_frame?.captured_at],
          ['sentence', comparison.caption],
          ['confidence', comparison.confidence],
          ['model', comparison.model && `${comparison.model.name} ${comparison.model.version}`],
          ['hash of the model', comparison.model?.sha256],
        ],
        `<div class="pair">${SIDES.map((side) => figure(side, pictures.get(`${comparison.id}-${side}`))).join('')}</div>`,
      ),
    ),
  ];
  const title = `Evidence of ${camera.name ?? camera.id}`;
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><h1>${escapeHtml(title)}</h1>`,
    rows([
      ...Object.entries(subject),
      ...Object.entries(about),
      ...Object.entries(clocks).map(([name, text]): Row => [`clock of ${name}`, text]),
    ]),
    ...missing.map((sentence) => `<p>${escapeHtml(sentence)}</p>`),
    ...sections,
    '</body></html>\n',
  ].join('\n');
}

const section = (title: string, facts: readonly Row[], more = '') =>
  `<section><h2>${escapeHtml(title)}</h2>${rows(facts)}${more}</section>`;

const rows = (facts: readonly Row[]) =>
  `<dl>${facts
    .filter(([, value]) => value != null)
    .map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(String(value))}</dd>`)
    .join('')}</dl>`;

const figure = (side: string, path: string | undefined) =>
  `<figure>${path === undefined ? '' : `<img src="${escapeHtml(path)}" alt="${side}">`}<figcaption>${side}${
    path === undefined ? ': not kept' : ''
  }</figcaption></figure>`;
