/** A body from a Liquid template of the endpoint. Templates read no file and no property that the message lacks. */
import { Liquid } from 'liquidjs';
import {
  type EndpointMessage,
  type Format,
  isOver,
  pictureOf,
  subjectOf,
  testAlert,
  textOf,
  titleOf,
} from '../message.js';

export const LONGEST_TEMPLATE = 20_000;
const LIMITED = { parseLimit: LONGEST_TEMPLATE, renderLimit: 1_000, memoryLimit: 10_000_000 } as const;

/** An output is JSON in JSON and escaped in markup, so that names and captions stay texts; not with `raw`. */
function engineFor(contentType: string): Liquid {
  const outputEscape = /json/i.test(contentType) ? 'json' : /html|xml/i.test(contentType) ? 'escape' : undefined;
  return new Liquid({
    ...LIMITED,
    ...{ templates: {}, ownPropertyOnly: true, strictFilters: true },
    ...(outputEscape === undefined ? {} : { outputEscape }),
  });
}

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

const SAMPLE: EndpointMessage = {
  id: 'alr_0',
  payload: {
    ...{ type: 'endpoint.test', timestamp: new Date(0).toISOString() },
    data: { change: testAlert(0).change, suppressed_count: 0 },
  },
  ...{
    locale: 'en',
    cameraName: 'test',
    timeZone: 'UTC',
    link: 'https://cameras.example',
    baseUrl: 'https://cameras.example',
    now: 0,
  },
};

function scopeOf(message: EndpointMessage): object {
  const { camera, zone, kind, severity, since, id } = subjectOf(message);
  const { type, timestamp, data } = message.payload;
  return {
    ...{ type, timestamp, id, camera, zone, kind, severity, since, data },
    camera_name: message.cameraName,
    title: titleOf(message),
    text: textOf(message),
    link: message.link,
    picture: pictureOf(message) ?? null,
    over: isOver(type),
  };
}
