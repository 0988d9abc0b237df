/** ntfy: its message as JSON, which goes to the address of the server with the topic inside. */

import { endsSubject } from '../../schemas/message.js';
import { cut } from '../cut.js';
import { LIMITS } from '../limits.js';
import { type EndpointMessage, type Format, jsonRequest, linkOf, pictureOf, textOf, titleOf } from '../message.js';

/** 1 (least) to 5; 5 rings through. */
const PRIORITIES = { info: 2, low: 3, medium: 4, high: 5 } as const;
const OVER = 2;
const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;

/** @returns undefined if the address does not end with a topic, as https://ntfy.example/my-topic does */
export function topicOf(url: string): { server: string; topic: string } | undefined {
  const address = new URL(url);
  const parts = address.pathname.replace(/\/+$/, '').split('/');
  const topic = parts.pop() ?? '';
  address.pathname = parts.join('/') || '/';
  return TOPIC.test(topic) ? { server: address.href, topic } : undefined;
}

export const ntfy: Format = (message, { url }) => {
  const { server, topic } = topicOf(url) ?? { server: url, topic: '' };
  return jsonRequest(server, bodyOf(message, topic));
};

function bodyOf(message: EndpointMessage, topic: string) {
  const { type, subject, kind, severity } = message;
  const picture = pictureOf(message);
  return {
    topic,
    title: cut(titleOf(message), LIMITS.ntfy.title),
    message: cut(textOf(message), LIMITS.ntfy.body),
    priority: endsSubject(type) ? OVER : PRIORITIES[severity],
    tags: [endsSubject(type) ? 'white_check_mark' : 'camera', kind],
    click: linkOf(message),
    ...(picture === undefined
      ? {}
      : {
          attach: picture,
          filename: `${subject.id}.${new URL(picture).pathname.endsWith('/picture') ? 'jpg' : 'png'}`,
        }),
  };
}
