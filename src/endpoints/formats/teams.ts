/**
 * Microsoft Teams: an Adaptive Card for the workflow "When a Teams webhook request is received". All texts are text
 * runs, in which Teams reads no Markdown, so that names and captions cannot format, mention or link.
 */

import { endsSubject } from '../../schemas/message.js';
import { cut } from '../cut.js';
import { LIMITS } from '../limits.js';
import { type EndpointMessage, type Format, jsonRequest, linkOf, pictureOf, textOf, titleOf } from '../message.js';

const COLOURS = { info: 'default', low: 'accent', medium: 'warning', high: 'attention' } as const;

export const teams: Format = (message, { url }) =>
  jsonRequest(url, {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: cardOf(message) }],
  });

function cardOf(message: EndpointMessage) {
  const { camera, zone, kind, severity } = message;
  const picture = pictureOf(message);
  const color = endsSubject(message.type) ? 'good' : COLOURS[severity];
  const line = (text: string, style: object = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...style }],
  });
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: [
      line(cut(titleOf(message), LIMITS.teams.title), { weight: 'bolder', size: 'medium', color }),
      line(cut(textOf(message), LIMITS.teams.body)),
      line([camera, zone, kind, severity].filter((one) => one !== null).join(' · '), { isSubtle: true, size: 'small' }),
      ...(picture === undefined ? [] : [{ type: 'Image', url: picture, altText: kind }]),
    ],
    actions: [{ type: 'Action.OpenUrl', title: 'scenedelta', url: linkOf(message) }],
  };
}
