/** Endpoints and messages for tests. */

import { newId } from '../../src/base/ids.js';
import type { EndpointMessage } from '../../src/endpoints/message.js';
import { sealSecrets, shownUrl } from '../../src/endpoints/secrets.js';
import { type EndpointPatch, settingsWith } from '../../src/endpoints/settings.js';
import type { AlertPayload } from '../../src/schemas/webhook-payload.js';
import type { StoredEndpoint } from '../../src/stores/delivery/endpoints.js';
import { foundChange, NOON } from './changes.js';

export const KEY = Buffer.alloc(32, 1);
export const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const BASE = 'https://cameras.example';

export function endpointMessage(
  type: AlertPayload['type'] = 'change.opened',
  change: Parameters<typeof foundChange>[0] = {},
  given: Partial<Omit<EndpointMessage, 'payload'>> = {},
): EndpointMessage & { readonly payload: AlertPayload } {
  const found = foundChange(change);
  const picture = (side: string) => ({ url: `${BASE}/v1/comparisons/cmp_1/heatmaps/${side}?exp=1&sig=x` });
  const pictures = { before: picture('before'), after: picture('after') };
  const data = { change: found, suppressed_count: 0, heatmaps: pictures };
  return {
    id: `alr_${'1'.repeat(26)}`,
    payload: { type, timestamp: new Date(NOON).toISOString(), data },
    locale: 'en',
    cameraName: 'Gate',
    timeZone: 'UTC',
    link: `${BASE}/review/${found.id}`,
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
    shownUrl: shownUrl(url, settings.format),
    sealed: sealSecrets(id, { url, authorization, signing: [{ secret, expiresAt: null }] }, KEY),
    created_at: at,
    updated_at: at,
  };
}
