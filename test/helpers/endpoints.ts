/** Endpoints and messages for tests. */
import { newId } from '../../src/base/ids.js';
import { alertMessage } from '../../src/camera/changes/message.js';
import { type EndpointMessage, testMessage } from '../../src/endpoints/message.js';
import { payloadOf } from '../../src/endpoints/payload.js';
import { sealSecrets, shownUrl } from '../../src/endpoints/secrets.js';
import { type EndpointPatch, settingsWith } from '../../src/endpoints/settings.js';
import { translated } from '../../src/language/translate.js';
import type { MessageType } from '../../src/schemas/message.js';
import type { StoredEndpoint } from '../../src/stores/delivery/endpoints.js';
import { foundChange, NOON } from './changes.js';

export const KEY = Buffer.alloc(32, 1);
export const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const BASE = 'https://cameras.example';

export const LINKS = {
  baseUrl: BASE,
  key: Buffer.alloc(32),
  framesMs: 3_600_000,
  heatmapsMs: 3_600_000,
  keptSince: NOON,
};

export function endpointMessage(
  type: MessageType = 'change.opened',
  change: Parameters<typeof foundChange>[0] = {},
  given: Partial<EndpointMessage> = {},
): EndpointMessage {
  const id = `alr_${'1'.repeat(26)}`;
  const message =
    type === 'endpoint.test'
      ? testMessage(id, NOON)
      : alertMessage({ id, type, change: foundChange(change), suppressedCount: 0, at: NOON });
  return {
    ...translated(message, given.locale ?? 'en'),
    payload: payloadOf(message, LINKS),
    locale: 'en',
    cameraName: 'Gate',
    timeZone: 'UTC',
    baseUrl: BASE,
    now: NOON + 1_000,
    ...given,
  };
}

/** An endpoint as the API stores it. */
export function storedEndpoint(
  url: string,
  given: EndpointPatch = {},
  { authorization = null, secret = SECRET }: { authorization?: string | null; secret?: string } = {},
): StoredEndpoint {
  const id = newId('end');
  const settings = settingsWith(given);
  const at = new Date().toISOString();
  return {
    id,
    settings,
    shownUrl: shownUrl(url),
    sealed: sealSecrets(id, { url, authorization, signing: [{ secret, expiresAt: null }] }, KEY),
    created_at: at,
    updated_at: at,
  };
}
