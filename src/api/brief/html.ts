/** A brief as a page: HTML without scripts and without anything to load, or CommonMark. Pure. */
import { escapeHtml } from '../../base/escape-html.js';
import type { Locale } from '../../language/locales.js';
import { textIn } from '../../language/translate.js';
import type { CameraText, Hour, Line } from './wording.js';

/** The page may load and run nothing; its style is in it. */
export const BRIEF_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

const STYLE =
  ':root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}' +
  'h1{font-size:1.4rem}h2{font-size:1.15rem;margin:2rem 0 0}h3{font-size:1rem;margin:1rem 0 0}' +
  'p{margin:.2rem 0}ul{margin:.2rem 0;padding-left:1.2rem}li{overflow-wrap:anywhere}' +
  'body{background:Canvas;color:CanvasText}a{color:#00707d}@media(prefers-color-scheme:dark){a{color:#45cfdd}}';

const itemOf = ({ text, link }: Line): string =>
  `<li>${escapeHtml(text)}${link === null ? '' : ` <a href="${escapeHtml(link.url)}">${escapeHtml(link.text)}</a>`}</li>`;

/** A bar per hour, with its time and count as a tooltip; the text beside the plot says the same. */
function plotOf(title: string, hours: readonly Hour[]): string {
  const most = Math.max(...hours.map(({ count }) => count), 1);
  const bars = hours.map(({ time, count }, i) => {
    const height = (40 * count) / most;
    const place = `x="${i * 10}" y="${41 - height}" width="8" height="${height + 1}"`;
    return `<rect ${place}><title>${escapeHtml(`${time}: ${count}`)}</title></rect>`;
  });
  const box = `viewBox="0 0 ${hours.length * 10} 42" width="${hours.length * 10}" height="42" fill="currentColor"`;
  return `<svg role="img" aria-label="${escapeHtml(title)}" ${box}>${bars.join('')}</svg>`;
}

/** @param more whether there are further cameras */
export function briefHtml(cameras: readonly CameraText[], more: boolean, locale: Locale): string {
  const text = (key: string): string => escapeHtml(textIn(locale, key));
  const parts = cameras.flatMap(({ title, subtitle, sections }) => [
    `<h2>${escapeHtml(title)}</h2>`,
    `<p>${escapeHtml(subtitle)}</p>`,
    ...sections.flatMap((section) => [
      `<h3>${escapeHtml(section.title)}</h3>`,
      ...(section.hours === undefined ? [] : [plotOf(section.title, section.hours)]),
      ...(section.lines.length === 0 ? [] : [`<ul>\n${section.lines.map(itemOf).join('\n')}\n</ul>`]),
    ]),
  ]);
  const end = cameras.length === 0 ? ['no_camera'] : more ? ['more_cameras'] : [];
  return [
    '<!doctype html>',
    `<html lang="${locale}">`,
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${text('brief')}</title><style>${STYLE}</style></head>`,
    `<body><main><p><a href="../review">${text('back')}</a></p><h1>${text('brief')}</h1>`,
    ...parts,
    ...end.map((key) => `<p>${text(key)}</p>`),
    '</main></body></html>\n',
  ].join('\n');
}

/** Text without any mark: punctuation that means something within a line, and HTML. */
const escaped = (text: string): string => text.replace(/[\\`*_[\]<>&#|~!]/g, '\\$&');

const bulletOf = ({ text, link }: Line): string =>
  `- ${escaped(text)}${link === null ? '' : ` [${link.text}](${link.url})`}`;

/** @param more whether there are further cameras */
export function briefMarkdown(cameras: readonly CameraText[], more: boolean, locale: Locale): string {
  const parts = cameras.flatMap(({ title, subtitle, sections }) => [
    `## ${escaped(title)}`,
    escaped(subtitle),
    ...sections.flatMap((section) => [
      `### ${escaped(section.title)}`,
      ...(section.lines.length === 0 ? [] : [section.lines.map(bulletOf).join('\n')]),
    ]),
  ]);
  const end = cameras.length === 0 ? ['no_camera'] : more ? ['more_cameras'] : [];
  const closing = end.map((key) => textIn(locale, key));
  return `${[`# ${textIn(locale, 'brief')}`, ...parts, ...closing].join('\n\n')}\n`;
}
