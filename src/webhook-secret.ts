/**
 * The secret that signs webhooks and, through a derived key, links: WEBHOOK_SECRET, or a file created once in
 * DATA_DIR.
 */
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from './config.js';
import { invalidRequest, ScenedeltaError } from './errors.js';

const FILE = 'webhook.secret';
/** Standard Webhooks requires 24 to 64 bytes. */
const SECRET_BYTES = 32;
const FORM = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

/**
 * API and worker may start at the same moment; the process that creates the file first determines the secret.
 * @returns 'whsec_' and base64
 * @throws ScenedeltaError 'invalid-request' if the secret has another form, 'storage-unavailable' if DATA_DIR cannot be
 * written
 */
export async function loadWebhookSecret(config: Pick<Config, 'webhookSecret' | 'dataDir'>): Promise<string> {
  if (config.webhookSecret !== null) return checked(config.webhookSecret, 'WEBHOOK_SECRET');
  const file = join(config.dataDir, FILE);
  try {
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
    const kept = await readFile(file, 'utf8').catch(() => undefined);
    if (kept === undefined) await createOnce(file);
    return checked((kept ?? (await readFile(file, 'utf8'))).trim(), file);
  } catch (thrown) {
    if (thrown instanceof ScenedeltaError) throw thrown;
    throw new ScenedeltaError('storage-unavailable', `${file}: the webhook secret cannot be kept there`, {
      cause: thrown,
    });
  }
}

/**
 * Writes a temporary file and links it, so that no reader sees half a secret and a second writer keeps the first
 * secret.
 */
async function createOnce(file: string): Promise<void> {
  const aside = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const handle = await open(aside, 'wx', 0o600);
  try {
    await handle.writeFile(`whsec_${randomBytes(SECRET_BYTES).toString('base64')}\n`);
    await handle.datasync();
    await link(aside, file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  } finally {
    await handle.close();
    await rm(aside, { force: true });
  }
}

function checked(secret: string, where: string): string {
  if (FORM.test(secret)) return secret;
  throw invalidRequest(
    `${where} has ${secret.length} characters, expected 'whsec_' followed by 24 to 64 bytes in base64`,
    'WEBHOOK_SECRET',
  );
}
