/**
 * The secret that signs webhooks and, through a derived key, links: WEBHOOK_SECRET, or a file created once in
 * DATA_DIR.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { invalidRequest } from '../base/errors.js';
import type { Config } from '../process/config.js';
import { keptOnce } from './kept-once.js';

const FILE = 'webhook.secret';
/** Standard Webhooks requires 24 to 64 bytes. */
const SECRET_BYTES = 32;
const FORM = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

/**
 * @returns 'whsec_' and base64
 * @throws ScenedeltaError 'invalid-request' if the secret has another form, 'storage-unavailable' if DATA_DIR cannot be
 * written
 */
export async function loadWebhookSecret(config: Pick<Config, 'webhookSecret' | 'dataDir'>): Promise<string> {
  if (config.webhookSecret !== null) return checked(config.webhookSecret, 'WEBHOOK_SECRET');
  const file = join(config.dataDir, FILE);
  const make = () => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
  return checked(await keptOnce(file, make, 'the webhook secret'), file);
}

function checked(secret: string, where: string): string {
  if (FORM.test(secret)) return secret;
  throw invalidRequest(
    `${where} has ${secret.length} characters, expected 'whsec_' followed by 24 to 64 bytes in base64`,
    'WEBHOOK_SECRET',
  );
}
