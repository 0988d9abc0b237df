/**
 * Receivers that refuse with 400 what the makers of the real ones document as too long or malformed. The numbers are
 * those of the documents, not of src/endpoints/limits.ts.
 */
import type { FormatName } from '../../src/endpoints/limits.js';

// biome-ignore lint/suspicious/noExplicitAny: a receiver reads what comes
type Json = any;
export interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
/** @returns the refusal of a request; undefined: it is accepted */
export type Strict = (sent: Sent) => string | undefined;

const bytesOf = (text: string) => Buffer.byteLength(text);
/** The first of the conditions that does not hold, as [what must be true, the refusal]. */
const firstOf = (...checks: readonly (readonly [boolean, string])[]) => checks.find(([holds]) => !holds)?.[1];
const has = (text: unknown, most: number) => typeof text === 'string' && text.length > 0 && text.length <= most;

const payload: Strict = ({ body }) => firstOf([bytesOf(body) < 20_000, 'the payload has 20 kB or more']);
const cloudevent: Strict = ({ body }) => firstOf([bytesOf(body) <= 65_536, 'the event has more than 64 KiB']);

/** Discord's endpoint for requests of Slack, which makes an embed of each attachment. */
const discord: Strict = ({ body }) => {
  const { text, attachments }: Json = JSON.parse(body);
  const sizes = attachments.flatMap((one: Json) => [
    one.title.length,
    one.text?.length ?? 0,
    one.footer.length,
    ...one.fields.map((field: Json) => field.title.length + field.value.length),
  ]);
  return firstOf(
    [has(text, 2_000), 'content: Must be 2000 or fewer in length.'],
    [attachments.length <= 10, 'embeds: Must be 10 or fewer in length.'],
    [attachments.every((one: Json) => has(one.title, 256)), 'embeds[0].title: Must be 256 or fewer in length.'],
    [attachments.every((one: Json) => one.text === undefined || has(one.text, 4_096)), 'embeds[0].description: 4096'],
    [attachments.every((one: Json) => one.fields.every((field: Json) => has(field.value, 1_024))), 'value: 1024'],
    [sizes.reduce((sum: number, size: number) => sum + size, 0) <= 6_000, 'Embed size exceeds maximum size of 6000'],
  );
};

const ntfy: Strict = ({ body }) => {
  const { topic, message, priority }: Json = JSON.parse(body);
  return firstOf(
    [/^[-_A-Za-z0-9]{1,64}$/.test(topic), 'invalid topic'],
    [bytesOf(message) <= 4_096, 'message too long'],
    [bytesOf(body) <= 8_192, 'body too large'],
    [priority >= 1 && priority <= 5, 'invalid priority'],
  );
};

export const STRICT: Readonly<Record<FormatName, Strict>> = {
  'standard-webhooks': payload,
  cloudevents: cloudevent,
  'cloudevents-binary': cloudevent,
  alertmanager: ({ body }) => firstOf([JSON.parse(body)[0].labels.alertname !== '', 'alertname is missing']),
  slack: discord,
  ntfy,
};
