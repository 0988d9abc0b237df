/**
 * Web push: a notification of the browser, by the push service that the browser names. The body is what the service
 * worker of the page reads (console/public/service-worker.js); push-request.ts encrypts it for the browser.
 */
import type { Box } from '../../base/images.js';
import { textIn } from '../../language/translate.js';
import type { Message } from '../../schemas/message.js';
import { endsSubject } from '../../schemas/message.js';
import { cut } from '../cut.js';
import { LIMITS } from '../limits.js';
import { type EndpointMessage, type Format, textOf, titleOf } from '../message.js';

/** Seconds for which the push service keeps a notification for a browser that is not there. */
const TTL_S = 86_400;
const URGENT: readonly Message['severity'][] = ['medium', 'high'];
/** Keys of the browser: an uncompressed point of P-256 and 16 bytes, both in base64url. */
const KEYS = /^([A-Za-z0-9_-]{87}):([A-Za-z0-9_-]{22})$/;

/** @returns the keys of a subscription; undefined: the login of the endpoint has none */
export function pushKeysOf(authorization: string | null): { p256dh: string; auth: string } | undefined {
  const [, p256dh, auth] = KEYS.exec(authorization ?? '') ?? [];
  return p256dh === undefined || auth === undefined ? undefined : { p256dh, auth };
}

export const webPush: Format = (message, { url }) => ({
  url,
  headers: { ttl: String(TTL_S), urgency: URGENT.includes(message.severity) ? 'high' : 'normal' },
  body: JSON.stringify(bodyOf(message)),
});

function bodyOf(message: EndpointMessage) {
  const { type, subject, path, locale } = message;
  const image = cropOf(message);
  const isJudged = ['change', 'visit'].includes(subject.kind) && !endsSubject(type) && type !== 'endpoint.test';
  return {
    title: cut(titleOf(message), LIMITS['web-push'].title),
    body: cut(textOf(message), LIMITS['web-push'].body),
    path,
    // A later notification about the same thing takes the place of the earlier one.
    tag: subject.id,
    ...(image === undefined ? {} : { image }),
    ...(isJudged ? { judged: `${subject.kind}s/${subject.id}`, acknowledge: textIn(locale, 'acknowledge') } : {}),
  };
}

interface Shown {
  readonly change?: { readonly regions?: readonly { readonly side: string; readonly box: Box }[] };
  readonly visit?: { readonly best?: { readonly box: Box } };
}

/** @returns a signed link to the part of the frame that shows the thing; undefined: there is no picture */
function cropOf({ picture, payload: { data } }: EndpointMessage): string | undefined {
  const url = picture === null ? undefined : data.frames?.[picture.side]?.url;
  if (url === undefined) return undefined;
  const { change, visit } = data as Shown;
  const box = change?.regions?.find(({ side }) => side === picture?.side)?.box ?? visit?.best?.box;
  if (box === undefined) return url;
  const around = [box.x, box.y, box.width, box.height].map((share) => Number(share.toFixed(3))).join();
  return `${url}&around=${around}`;
}
