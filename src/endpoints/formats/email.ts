/** Mail: plain text and HTML with the picture inside. One change is one thread, because its mails refer to its id. */
import { escapeHtml } from '../../base/escape-html.js';
import type { Mail } from '../../base/mail.js';
import { wallTimeIn } from '../../base/wall-clock.js';
import { textIn } from '../../language/translate.js';
import { cut } from '../cut.js';
import { LIMITS } from '../limits.js';
import { type EndpointMessage, type Format, linkOf, textOf, titleOf } from '../message.js';

const ADDRESS = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/;

/**
 * @param url smtp(s)://user@host:port?to=<address>&from=<address>, with any number of `to`
 * @returns undefined if an address is missing or none
 */
export function addressesOf(url: string): Pick<Mail, 'from' | 'to'> | undefined {
  const { username, searchParams } = new URL(url);
  const from = searchParams.get('from') ?? decodeURIComponent(username);
  const to = searchParams.getAll('to');
  return to.length > 0 && [from, ...to].every((one) => ADDRESS.test(one)) ? { from, to } : undefined;
}

export const email: Format = (message, { url }) => ({
  url,
  headers: {},
  body: message.type === 'brief.daily' ? briefMailOf(message, url) : mailOf(message, url),
});

/** The paragraph first, then the crops with their lines. All briefs of an endpoint are one thread. */
function briefMailOf(
  { id, subject, caption, locale, baseUrl, crops: kept = [], payload }: EndpointMessage,
  url: string,
): Mail {
  const { hostname } = new URL(baseUrl);
  const { day = '', pictures = [] } = payload.data.brief ?? {};
  const crops = kept.filter((crop) => crop !== undefined);
  let shown = 0;
  const figures = pictures.map(({ text, path }, i) => {
    const image = kept[i] === undefined ? '' : `<img src="cid:crop-${shown++}" alt="" style="max-width:100%"><br>`;
    return `<p>${image}<a href="${escapeHtml(baseUrl + path)}">${escapeHtml(text)}</a></p>`;
  });
  const link = `${baseUrl}/v1/brief?day=${day}&format=html`;
  return {
    ...(addressesOf(url) ?? { from: '', to: [] }),
    subject: cut(`${textIn(locale, 'brief')} ${day}`, LIMITS.email.title),
    text: [caption, ...pictures.map(({ text, path }) => `${text}\n${baseUrl}${path}`), link].join('\n\n'),
    html: `<p>${escapeHtml(caption)}</p>${figures.join('')}<p><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p>`,
    picture: undefined,
    crops,
    messageId: `<${id}@${hostname}>`,
    references: `<${subject.id}@${hostname}>`,
  };
}

function mailOf(message: EndpointMessage, url: string): Mail {
  const { subject, camera, zone, kind, severity, since } = message;
  const { hostname } = new URL(message.baseUrl);
  const facts = [camera, zone, kind, severity, wallTimeIn(Date.parse(since), message.timeZone)]
    .filter((one) => one !== null)
    .join(' · ');
  const sentence = textOf(message);
  const picture = message.jpeg === undefined ? '' : '<p><img src="cid:picture" alt="" style="max-width:100%"></p>';
  const link = escapeHtml(linkOf(message));
  return {
    ...(addressesOf(url) ?? { from: '', to: [] }),
    subject: cut(titleOf(message), LIMITS.email.title),
    text: [sentence, facts, linkOf(message)].join('\n\n'),
    html: `<p>${escapeHtml(sentence)}</p>${picture}<p><small>${escapeHtml(facts)}</small></p><p><a href="${link}">${link}</a></p>`,
    picture: message.jpeg,
    messageId: `<${message.id}@${hostname}>`,
    references: `<${subject.id}@${hostname}>`,
  };
}
