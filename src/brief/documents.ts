/** A brief as the data of its page, or as CommonMark. Pure. */
import type { Locale } from '../language/locales.js';
import { textIn } from '../language/translate.js';
import type { BriefCamera, BriefData, BriefLine, BriefPicture } from '../schemas/documents.js';

interface BriefText {
  readonly summary: string;
  readonly cameras: readonly BriefCamera[];
  /** whether there are further cameras */
  readonly more: boolean;
  readonly locale: Locale;
}

/** @param review address of the changes in the console; null if it is not served */
export function briefData(
  { summary, cameras, more, locale }: BriefText,
  pictures: readonly BriefPicture[],
  review: string | null,
): BriefData {
  return {
    locale,
    title: textIn(locale, 'brief'),
    noscript: textIn(locale, 'brief_noscript'),
    back: review === null ? null : { text: textIn(locale, 'back'), url: review },
    summary,
    pictures,
    cameras,
    end: endOf(cameras, more, locale),
  };
}

function endOf(cameras: readonly BriefCamera[], more: boolean, locale: Locale): string | null {
  if (cameras.length === 0) return textIn(locale, 'no_camera');
  return more ? textIn(locale, 'more_cameras') : null;
}

/** Text without any mark: punctuation that means something within a line, and HTML. */
const escaped = (text: string): string => text.replace(/[\\`*_[\]<>&#|~!]/g, '\\$&');

const bulletOf = ({ text, link }: BriefLine): string =>
  `- ${escaped(text)}${link === null ? '' : ` [${link.text}](${link.url})`}`;

export function briefMarkdown({ summary, cameras, more, locale }: BriefText): string {
  const parts = cameras.flatMap(({ title, subtitle, sections }) => [
    `## ${escaped(title)}`,
    escaped(subtitle),
    ...sections.flatMap((section) => [
      `### ${escaped(section.title)}`,
      ...(section.lines.length === 0 ? [] : [section.lines.map(bulletOf).join('\n')]),
    ]),
  ]);
  const end = endOf(cameras, more, locale);
  const paragraph = summary === '' ? [] : [escaped(summary)];
  return `${[`# ${textIn(locale, 'brief')}`, ...paragraph, ...parts, ...(end === null ? [] : [end])].join('\n\n')}\n`;
}
