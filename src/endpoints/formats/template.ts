/** A body from a Liquid template of the endpoint. Templates read no file and no property that the message lacks. */
import { Liquid } from 'liquidjs';
import { escapeHtml } from '../../base/escape-html.js';
import { endsSubject } from '../../schemas/message.js';
import { onOneLine } from '../../schemas/patterns.js';
import { LONGEST_TEMPLATE } from '../limits.js';
import { type EndpointMessage, type Format, linkOf, pictureOf, testMessage, textOf, titleOf } from '../message.js';
import { payloadOf } from '../payload.js';

const LIMITED = { parseLimit: LONGEST_TEMPLATE, renderLimit: 1_000, memoryLimit: 10_000_000 } as const;

/** An output is written as a text of the content type, so that names and captions stay texts; not with `raw`. */
const engineFor = (contentType: string): Liquid =>
  new Liquid({
    ...LIMITED,
    templates: {},
    ownPropertyOnly: true,
    strictFilters: true,
    outputEscape: /json/i.test(contentType) ? 'json' : writerFor(contentType),
  });

/** Names and captions that were stored by earlier rules may have line ends. */
const writerFor = (contentType: string): ((value: unknown) => string) => {
  const escaped = /html|xml/i.test(contentType)
    ? escapeHtml
    : /x-www-form-urlencoded/i.test(contentType)
      ? (text: string) => new URLSearchParams([['', text]]).toString().slice(1)
      : (text: string) => text;
  return (value) => escaped(onOneLine(textOfValue(value)));
};

/** As Liquid writes a value: a list without separators. */
const textOfValue = (value: unknown): string =>
  Array.isArray(value) ? value.map(textOfValue).join('') : value == null ? '' : String(value);

/** @throws Error naming the line, if the template is invalid */
export const template: Format = (message, { url, template: given }) => {
  const { text, contentType } = given ?? { text: '', contentType: 'text/plain' };
  const body: string = engineFor(contentType).parseAndRenderSync(text, scopeOf(message));
  return { url, headers: { 'content-type': contentType }, body };
};

/** @returns why a template has no valid body for a test event, with the line; undefined: it has one */
export function templateFault(text: string, contentType: string): string | undefined {
  try {
    const options = { strictVariables: true };
    const body: string = engineFor(contentType).parseAndRenderSync(text, scopeOf(SAMPLE), options);
    if (/json/i.test(contentType)) JSON.parse(body);
    return undefined;
  } catch (thrown) {
    const [line = ''] = (thrown as Error).message.split('\n');
    return thrown instanceof SyntaxError ? `it makes no JSON of a test event: ${line}` : line;
  }
}

const TEST = testMessage('alr_0', 0);
const SAMPLE: EndpointMessage = {
  ...TEST,
  payload: payloadOf(TEST, null),
  locale: 'en',
  cameraName: 'test',
  timeZone: 'UTC',
  baseUrl: 'https://cameras.example',
  now: 0,
};

function scopeOf(message: EndpointMessage): object {
  const { camera, zone, kind, severity, since, subject, type, payload } = message;
  return {
    type,
    id: subject.id,
    camera,
    zone,
    kind,
    severity,
    since,
    timestamp: payload.timestamp,
    data: payload.data,
    camera_name: message.cameraName,
    title: titleOf(message),
    text: textOf(message),
    link: linkOf(message),
    picture: pictureOf(message) ?? null,
    over: endsSubject(type),
  };
}
