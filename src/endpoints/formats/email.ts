/** Mail: plain text and HTML with the picture inside. One change is one thread, because its mails refer to its id. */
import { escapeHtml } from '../../base/escape-html.js';
import type { Mail } from '../../base/mail.js';
import { wallTimeIn } from '../../base/wall-clock.js';
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

export const email: Format = (message, { url }) => ({ url, headers: {}, body: mailOf(message, url) });

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
