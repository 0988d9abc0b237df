/**
 * The Bot API of Telegram: a photo with a caption, or a message without one. The text is plain, and an entity makes the
 * title bold, so that names and captions cannot format.
 */
import { cut } from '../cut.js';
import { LIMITS } from '../limits.js';
import { type EndpointMessage, type Format, jsonRequest, linkOf, textOf, titleOf } from '../message.js';

const BOT = /^(.*\/bot\d+:[\w-]+)(?:\/\w*)?$/;

/** @returns undefined if the address is not that of a bot with a chat: https://api.telegram.org/bot1:a?chat_id=2 */
export function botOf(url: string): { address: string; fields: Readonly<Record<string, string>> } | undefined {
  const { origin, pathname, searchParams } = new URL(url);
  const path = BOT.exec(pathname)?.[1];
  const thread = searchParams.get('message_thread_id');
  const chat = searchParams.get('chat_id') ?? '';
  if (path === undefined || chat === '') return undefined;
  return {
    address: origin + path,
    fields: { chat_id: chat, ...(thread === null ? {} : { message_thread_id: thread }) },
  };
}

export const telegram: Format = (message, { url }) => {
  const { address, fields } = botOf(url) ?? { address: url, fields: {} };
  const { text, entities } = textWith(message);
  if (message.jpeg === undefined) {
    const preview = { link_preview_options: { is_disabled: true } };
    return jsonRequest(`${address}/sendMessage`, { ...fields, text, entities, ...preview });
  }
  const form = new FormData();
  const all = { ...fields, caption: text, caption_entities: JSON.stringify(entities) };
  for (const [name, value] of Object.entries(all)) form.set(name, value);
  form.set('photo', new Blob([message.jpeg], { type: 'image/jpeg' }), 'change.jpg');
  return { url: `${address}/sendPhoto`, headers: {}, body: form };
};

/** Offsets of entities are UTF-16 code units, as those of strings. */
function textWith(message: EndpointMessage) {
  const title = cut(titleOf(message), LIMITS.telegram.title);
  const { most, unit } = LIMITS.telegram.body;
  const ends = `\n\n${linkOf(message)}`;
  const link = title.length + ends.length < most / 2 ? ends : '';
  const sentence = cut(textOf(message), { unit, most: most - title.length - link.length - 1 });
  return { text: `${title}\n${sentence}${link}`, entities: [{ type: 'bold', offset: 0, length: title.length }] };
}
