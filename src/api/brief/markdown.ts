/** A brief as CommonMark. Pure. */
import type { Locale } from '../../language/locales.js';
import { textIn } from '../../language/translate.js';
import type { CameraText, Line } from './wording.js';

/** Text without any mark: punctuation that means something within a line, and HTML. */
const escaped = (text: string): string => text.replace(/[\\`*_[\]<>&#|~!]/g, '\\$&');

const itemOf = ({ text, link }: Line): string =>
  `- ${escaped(text)}${link === null ? '' : ` [${link.text}](${link.url})`}`;

/** @param more whether there are further cameras */
export function briefMarkdown(cameras: readonly CameraText[], more: boolean, locale: Locale): string {
  const parts = cameras.flatMap(({ title, subtitle, sections }) => [
    `## ${escaped(title)}`,
    escaped(subtitle),
    ...sections.flatMap((section) => [
      `### ${escaped(section.title)}`,
      ...(section.lines.length === 0 ? [] : [section.lines.map(itemOf).join('\n')]),
    ]),
  ]);
  const end = cameras.length === 0 ? ['no_camera'] : more ? ['more_cameras'] : [];
  const closing = end.map((key) => textIn(locale, key));
  return `${[`# ${textIn(locale, 'brief')}`, ...parts, ...closing].join('\n\n')}\n`;
}
