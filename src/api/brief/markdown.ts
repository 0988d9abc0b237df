/** A brief as CommonMark. Pure. */
import type { CameraText, Line } from './wording.js';

/** Text without any mark: punctuation that means something within a line, and HTML. */
const escaped = (text: string): string => text.replace(/[\\`*_[\]<>&#|~!]/g, '\\$&');

const itemOf = ({ text, link }: Line): string =>
  `- ${escaped(text)}${link === null ? '' : ` [${link.text}](${link.url})`}`;

/** @param more whether there are further cameras */
export function briefMarkdown(cameras: readonly CameraText[], more: boolean): string {
  const parts = cameras.flatMap(({ title, subtitle, sections }) => [
    `## ${escaped(title)}`,
    escaped(subtitle),
    ...sections.flatMap((section) => [
      `### ${escaped(section.title)}`,
      ...(section.lines.length === 0 ? [] : [section.lines.map(itemOf).join('\n')]),
    ]),
  ]);
  const end = cameras.length === 0 ? ['There is no camera.'] : more ? ['There are further cameras.'] : [];
  return `${['# Daily brief', ...parts, ...end].join('\n\n')}\n`;
}
