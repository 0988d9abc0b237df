/**
 * report.html: one page that needs no network, with a timeline, filters, and the pictures of every change. Its text is
 * yielded in parts, one picture at a time, so that a large report needs little memory.
 *
 * All data lie in blocks that a browser does not run, and the script of the page shows them as text. A policy in the
 * page allows this script, this style and embedded pictures, and nothing else.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { escapeHtml } from '../../base/escape-html.js';
import { decodeToFit } from '../../frames/decode.js';
import sharp from '../../frames/sharp.js';
import { textIn } from '../../language/translate.js';
import type { FootageChange } from '../records.js';
import { type PassagesOfHour, passagesPerHour } from './grouping.js';
import type { Recording } from './recording.js';
import { reportData, type Text, textsOf } from './report-data.js';

export interface ReportOptions {
  /** bytes of a picture by its path in the records; null if it is not kept any more */
  readonly readPicture: (path: string) => Promise<Uint8Array | null>;
  /** folder of the compiled script and the style; tests give the one in dist */
  readonly page?: URL;
}

/** Changes above which pictures are smaller, so that a thousand changes stay a file that a browser opens at once. */
const LARGE = 200;
/** Longer side, px. */
const SIDES = { small: 320, full: 560 };
const QUALITY = 62;
/** Largest picture in the folder, px in all: the run wrote it, but the folder may come from another machine. */
const PIXEL_LIMIT = 200_000_000;
/** Bytes of embedded pictures; further changes are listed without pictures. */
const MAX_PICTURE_BYTES = 64 * 1024 * 1024;

export async function* reportPage(recording: Recording, options: ReportOptions): AsyncGenerator<string> {
  const { changes } = recording;
  const folder = options.page ?? new URL('./page/', import.meta.url);
  const [script, style] = await Promise.all(
    ['report-page.js', 'report.css'].map((file) => readFile(new URL(file, folder), 'utf8')),
  );
  const text = textsOf(recording);
  yield head(String(style), String(script), text);
  yield body(recording, text);
  const numbers = new Map<string, number>();
  let left = MAX_PICTURE_BYTES;
  for (const path of picturesOf(recording)) {
    const picture = left <= 0 ? null : await small(await options.readPicture(path), changes.length);
    if (picture === null) continue;
    const { data, info } = picture;
    left -= data.length;
    const number = numbers.size;
    numbers.set(path, number);
    yield `<script type="text/plain" id="picture-${number}" data-width="${info.width}" data-height="${info.height}">`;
    yield `${data.toString('base64')}</script>\n`;
  }
  const data = reportData(recording, (path) => (path === null ? null : (numbers.get(path) ?? null)));
  yield `<script type="application/json" id="data">${inert(JSON.stringify(data))}</script>\n`;
  yield `<script type="module">${script}</script>\n</body>\n</html>\n`;
}

/** The pictures of the visits come first: if there are too many, those of the changes are left out. */
const picturesOf = ({ visits, changes }: Recording): Set<string> =>
  new Set([
    ...visits.flatMap(({ kind, shown }) => (kind === 'visit' && shown !== null ? [shown.picture] : [])),
    ...changes.flatMap(({ pictures }) => pathsOf(pictures)),
  ]);

const pathsOf = ({ before, after }: FootageChange['pictures']): string[] =>
  [before, after].filter((path) => path !== null);

/** @returns null for a picture that is gone or cannot be read: its change is still listed */
async function small(bytes: Uint8Array | null, changes: number) {
  if (bytes === null) return null;
  const side = changes > LARGE ? SIDES.small : SIDES.full;
  const image = await decodeToFit(bytes, side, { field: 'picture', pixelLimit: PIXEL_LIMIT }).catch(() => null);
  if (image === null) return null;
  const { data, width, height } = image;
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: QUALITY })
    .toBuffer({ resolveWithObject: true });
}

function head(style: string, script: string, text: Text): string {
  const policy = [
    "default-src 'none'",
    `script-src '${sha256(script)}'`,
    `style-src '${sha256(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="${text.locale}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(text('title'))}</title>
<style>${style}</style>
</head>
`;
}

const sha256 = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

function body({ summary, changes, visits, gaps, failures }: Recording, text: Text): string {
  const html = (key: string) => escapeHtml(text(key));
  const count = (read: (camera: (typeof summary.cameras)[number]) => number) =>
    summary.cameras.reduce((sum, camera) => sum + read(camera), 0);
  const model = summary.model === null ? text('no_model') : `${summary.model.name} ${summary.model.version}`;
  const followed = visits.filter(({ kind }) => kind === 'visit').length;
  const zones = new Map(summary.cameras.map(({ camera, timezone }) => [camera, timezone]));
  const passages = passagesPerHour(visits, (camera) => zones.get(camera) ?? 'UTC');
  const facts = [
    ...(followed === 0 ? [] : [text('visit_count', { n: followed })]),
    text('change_count', { n: changes.length }),
    text('frame_count', { n: count(({ frames }) => frames), examined: count(({ examined }) => examined) }),
    text('camera_count', { n: summary.cameras.length }),
    `scenedelta ${summary.scenedelta}, ${model}`,
  ];
  const incomplete = `<p class="notice">${html('incomplete')}</p>\n`;
  return `<body>
<header>
<h1>${html('title')}</h1>
<p class="summary">${facts.map(escapeHtml).join(' · ')}</p>
${summary.complete ? '' : incomplete}${listed(text('failures'), failures, failureLine)}${listed(text('gaps'), gaps, (gap) => gapLine(gap, text))}${listed(textIn(text.locale, 'passages'), passages, passageLine)}${listed(text('warnings'), summary.warnings ?? [], String)}</header>
<main>
<noscript><p class="notice">${html('noscript')}</p></noscript>
<h2>${html('timeline')}</h2>
<div id="timeline" tabindex="0" role="group" aria-label="${html('timeline_keys')}"></div>
<p class="hint">${html('keys')}</p>
<form role="search" aria-label="${html('filters')}">
<label>${html('camera')} <select id="camera"><option value="">${html('all')}</option></select></label>
<label>${html('kind')} <select id="kind"><option value="">${html('all')}</option></select></label>
<label>${html('day')} <select id="day"><option value="">${html('all')}</option></select></label>
<label class="search">${html('text')} <input id="text" type="search" autocomplete="off"></label>
<label class="check"><input id="outlines" type="checkbox" checked> ${html('outlines')}</label>
<label class="check"><input id="places" type="checkbox"> ${html('places')}</label>
<span id="count" role="status"></span>
</form>
<h2 id="visits-title">${html('visits')}</h2>
<ol id="visits" class="cards"></ol>
<h2 id="changes-title">${html('changes')}</h2>
<ol id="changes" class="cards"></ol>
</main>
`;
}

const failureLine = ({ file, seconds, reason }: Recording['failures'][number]): string =>
  `${file}${seconds === null ? '' : `, ${seconds} s`}: ${reason}`;
const passageLine = ({ camera, hour, passages }: PassagesOfHour): string => `${camera}, ${hour}: ${passages}`;
const gapLine = ({ camera, from, to, seconds }: Recording['gaps'][number], text: Text): string => {
  const time = seconds === null ? text('unknown_time') : `${seconds} s`;
  return text('gap', { camera, time, from: from.file, to: to.file });
};

function listed<T>(name: string, records: readonly T[], line: (record: T) => string): string {
  if (records.length === 0) return '';
  const lines = records.map((record) => `<li>${escapeHtml(line(record))}</li>`).join('\n');
  return `<details><summary>${escapeHtml(name)} (${records.length})</summary><ul>\n${lines}\n</ul></details>\n`;
}

/** JSON in a script block: without "<" it cannot end the block or begin a comment. */
const inert = (json: string): string => json.replaceAll('<', '\\u003c');
