/**
 * Receivers that refuse with 400 what the makers of the real ones document as too long or malformed. The numbers are
 * those of the documents, not of src/endpoints/limits.ts.
 */
import type { Mail } from '../../src/base/mail.js';
import type { FormatName } from '../../src/endpoints/limits.js';
import type { EndpointRequest, Receiver } from '../../src/endpoints/message.js';

// biome-ignore lint/suspicious/noExplicitAny: a receiver reads what comes
type Json = any;
/** @returns the refusal of a request; undefined: it is accepted */
export type Strict = (sent: EndpointRequest & { readonly text: string }) => string | undefined;

const bytesOf = (text: string) => Buffer.byteLength(text);
/** The first of the conditions that does not hold, as [what must be true, the refusal]. */
const firstOf = (...checks: readonly (readonly [boolean, string])[]) => checks.find(([holds]) => !holds)?.[1];
const has = (text: unknown, most: number) => typeof text === 'string' && text.length > 0 && text.length <= most;

const payload: Strict = ({ text }) => firstOf([bytesOf(text) < 20_000, 'the payload has 20 kB or more']);
const cloudevent: Strict = ({ text }) => firstOf([bytesOf(text) <= 65_536, 'the event has more than 64 KiB']);

/** Discord's endpoint for requests of Slack, which makes an embed of each attachment. */
const discord: Strict = ({ text: body }) => {
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

const ntfy: Strict = ({ text }) => {
  const { topic, message, priority }: Json = JSON.parse(text);
  return firstOf(
    [/^[-_A-Za-z0-9]{1,64}$/.test(topic), 'invalid topic'],
    [bytesOf(message) <= 4_096, 'message too long'],
    [bytesOf(text) <= 8_192, 'body too large'],
    [priority >= 1 && priority <= 5, 'invalid priority'],
  );
};

const SCHEMES = ['default', 'dark', 'light', 'accent', 'good', 'warning', 'attention'];
/** A workflow of Teams: 28 KB, and a card without a field that its version lacks. */
const teams: Strict = ({ text }) => {
  const { type, attachments }: Json = JSON.parse(text);
  const [{ contentType, content }] = attachments;
  const runs = content.body.flatMap((one: Json) => one.inlines ?? []);
  return firstOf(
    [bytesOf(text) <= 28 * 1_024, 'Message size too large'],
    [type === 'message' && contentType === 'application/vnd.microsoft.card.adaptive', 'no card'],
    [content.type === 'AdaptiveCard' && /^1\.[0-5]$/.test(content.version), 'unknown version'],
    [runs.every((run: Json) => run.type === 'TextRun' && run.text.length > 0), 'TextRun without text'],
    [runs.every((run: Json) => SCHEMES.includes(run.color ?? 'default')), 'unknown colour'],
    [content.body.every((one: Json) => /^(?:RichTextBlock|Image)$/.test(one.type)), 'unknown element'],
  );
};

/** The Bot API; it counts code points, of which there are no more than code units. */
const telegram: Strict = ({ url, body, text }) => {
  const fields = body instanceof FormData ? Object.fromEntries(body as Iterable<[string, Json]>) : JSON.parse(text);
  const photo = body instanceof FormData;
  const written = photo ? fields.caption : fields.text;
  const entities = photo ? JSON.parse(fields.caption_entities) : fields.entities;
  return firstOf(
    [new RegExp(`/bot\\d+:[\\w-]+/${photo ? 'sendPhoto' : 'sendMessage'}$`).test(url), 'Not Found'],
    [/^-?\d+$|^@/.test(fields.chat_id), 'Bad Request: chat not found'],
    [has(written, photo ? 1_024 : 4_096), `Bad Request: ${photo ? 'message caption' : 'message'} is too long`],
    [!photo || (fields.photo.size > 0 && fields.photo.size <= 10_000_000), 'Bad Request: file is too big'],
    [entities.every((one: Json) => one.offset + one.length <= written.length), 'Bad Request: entity ends beyond'],
  );
};

/** The Events API v2. */
const pagerduty: Strict = ({ text }) => {
  const { routing_key, event_action, dedup_key, payload }: Json = JSON.parse(text);
  return firstOf(
    [/^[A-Za-z0-9]{32}$/.test(routing_key), "'routing_key' is invalid"],
    [['trigger', 'acknowledge', 'resolve'].includes(event_action), "'event_action' is invalid"],
    [has(dedup_key, 255), "Length of 'dedup_key' is incorrect (should be less than 255 characters)"],
    [has(payload.summary, 1_024), "Length of 'payload.summary' is incorrect (should be from 1 to 1024 characters)"],
    [has(payload.source, 255), "'payload.source' is missing or blank"],
    [['critical', 'error', 'warning', 'info'].includes(payload.severity), "'payload.severity' is invalid"],
    [bytesOf(text) <= 512 * 1_024, 'Event object is too large'],
  );
};

/** A mail server of 10 MB, and Exchange, which takes subjects of 255 characters. */
const email: Strict = ({ body }) => {
  const { from, to, subject, text, html, picture } = body as Mail;
  const size = bytesOf(text) + bytesOf(html) + 1.37 * (picture?.length ?? 0) + 2_000;
  return firstOf(
    [has(subject, 255), '554 subject too long'],
    [[from, ...to].every((one) => /^\S+@\S+$/.test(one)) && to.length > 0, '501 bad address'],
    [size <= 10_000_000, '552 message too large'],
  );
};

export const STRICT: Readonly<Record<FormatName, Strict>> = {
  'standard-webhooks': payload,
  cloudevents: cloudevent,
  'cloudevents-binary': cloudevent,
  alertmanager: ({ text }) => firstOf([JSON.parse(text)[0].labels.alertname !== '', 'alertname is missing']),
  slack: discord,
  ntfy,
  teams,
  telegram,
  pagerduty,
  email,
  bucket: ({ url, method }) => firstOf([method === 'PUT' && /\/[\w.-]+$/.test(url), '400 InvalidRequest']),
  'web-push': ({ text }) => firstOf([bytesOf(text) <= 3_993, '413 the encrypted body has more than 4096 bytes']),
  template: ({ text }) => firstOf([bytesOf(JSON.stringify(JSON.parse(text))) > 0, 'no JSON']),
};

/** An address and a login that each format takes. */
export const receiverOf = (format: FormatName): Receiver => ({
  url: URLS[format] ?? 'https://alerts.example/in',
  template:
    format === 'template'
      ? {
          text: '{"type": {{ type }}, "t": {{ title }}, "x": {{ text }}, "p": {{ picture }} }',
          contentType: 'application/json',
        }
      : undefined,
  authorization: LOGINS[format] ?? null,
});
const LOGINS: Readonly<Partial<Record<FormatName, string>>> = {
  pagerduty: 'a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4',
  'web-push': `${'B'.repeat(87)}:${'a'.repeat(22)}`,
};
const URLS: Readonly<Partial<Record<FormatName, string>>> = {
  alertmanager: 'http://alertmanager:9093',
  slack: 'https://hooks.slack.com/services/T000/B000/XXXX',
  ntfy: 'https://ntfy.example/cameras',
  teams: 'https://prod-01.westeurope.logic.azure.com/workflows/abc/triggers/manual/paths/invoke?sig=secret',
  telegram: 'https://api.telegram.org/bot110201543:AAHdqTcvCH1vGWJxfSe?chat_id=-1001234567890',
  pagerduty: 'https://events.pagerduty.com/v2/enqueue',
  'web-push': 'https://push.example/wpush/v2/gAAAAA',
  email: 'smtps://cameras%40site.example@mail.example?to=guard@site.example&to=desk@site.example',
};

/** @returns the body of a request as text */
export function textOf({ body }: EndpointRequest): string {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  return typeof body === 'string' ? body : JSON.stringify(body);
}
