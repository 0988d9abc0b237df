/** CloudEvents 1.0 over HTTP: the event as JSON (structured), or its attributes as headers (binary). */
import type { EndpointMessage, Format } from '../message.js';

/** Reversed domain of the service, then the type of the alert. */
const TYPE_PREFIX = 'dev.scenedelta.';

function attributesOf(message: EndpointMessage) {
  const { id, type, subject, camera, payload, baseUrl } = message;
  return {
    specversion: '1.0',
    id,
    source: `${baseUrl}/v1/cameras/${encodeURIComponent(camera)}`,
    type: TYPE_PREFIX + type,
    subject: subject.id,
    time: payload.timestamp,
    datacontenttype: 'application/json',
  };
}

export const structuredCloudEvent: Format = (message, { url }) => ({
  url,
  headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' },
  body: JSON.stringify({ ...attributesOf(message), data: message.payload.data }),
});

export const binaryCloudEvent: Format = (message, { url }) => {
  const { datacontenttype, ...attributes } = attributesOf(message);
  const headers = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, headerValue(value)]);
  return {
    url,
    headers: { 'content-type': datacontenttype, ...Object.fromEntries(headers) },
    body: JSON.stringify(message.payload.data),
  };
};

/** Percent-encodes as the HTTP binding asks (3.1.3.2): space, '"', '%' and everything but printable ASCII. */
const headerValue = (value: string): string =>
  value.replace(/[^\x21\x23\x24\x26-\x7e]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
