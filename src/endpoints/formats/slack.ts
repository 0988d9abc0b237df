/**
 * Incoming webhooks of Slack; Mattermost takes the same, and Discord does with `/slack` at the end of its address. The
 * message uses what all three have: a text and one attachment.
 */

import { endsSubject } from '../../schemas/message.js';
import { cut, type TextLimit } from '../cut.js';
import { LIMITS } from '../limits.js';
import { type EndpointMessage, type Format, jsonRequest, linkOf, pictureOf, textOf, titleOf } from '../message.js';

const COLOURS = { info: '#7a869a', low: '#2f7ed8', medium: '#d98e04', high: '#c62828' } as const;
const OVER = '#2e7d32';
/** The least of the three: that of the content of a message of Discord. */
const TEXT: TextLimit = { most: 2_000, unit: 'characters' };

/** Characters that begin a mention, a link or a format in Slack, Mattermost or Discord, and others that look alike. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  '@': '\uFF20',
  '*': '\u2217',
  '`': '\u02CB',
  '~': '\u223C',
  '|': '\u2223',
  '[': '\uFF3B',
  ']': '\uFF3D',
  '#': '\uFF03',
  '\\': '\uFF3C',
};
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Text that none of the three formats or interprets. Slack asks for the three entities; the others have no common way
 * to escape, and camera names and captions come from callers.
 */
export const escapeChat = (text: string): string =>
  text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    // An underscore within a word is no format, and common in the ids of cameras.
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\uFF3F')
    .replace(/:\/\//g, ':\u200B//')
    .replace(/[@*`~|[\]#\\]/g, (character) => LOOK_ALIKES[character] ?? '')
    .replace(/[&<>]/g, (character) => ENTITIES[character] ?? '');

export const slack: Format = (message, { url }) => jsonRequest(url, bodyOf(message));

function bodyOf(message: EndpointMessage) {
  const { type, at, camera, zone, severity, kind } = message;
  const picture = pictureOf(message);
  const title = cut(titleOf(message), LIMITS.slack.title, escapeChat);
  const text = cut(textOf(message), TEXT, escapeChat);
  const field = (name: string, value: string) => ({ title: name, value: escapeChat(value), short: true });
  return {
    // The part that a telephone shows.
    text,
    mrkdwn: false,
    attachments: [
      {
        fallback: title,
        color: endsSubject(type) ? OVER : COLOURS[severity],
        title,
        title_link: linkOf(message),
        mrkdwn_in: [],
        fields: [
          field('Camera', camera),
          field('Severity', severity),
          field('Kind', kind),
          ...(zone === null ? [] : [field('Zone', zone)]),
        ],
        ...(picture === undefined ? {} : { image_url: picture }),
        footer: 'scenedelta',
        ts: Math.floor(at / 1000),
      },
    ],
  };
}
