/** The Ed25519 key that signs evidence packages: EVIDENCE_KEY_FILE, or a file created once in DATA_DIR. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { invalidRequest } from '../base/errors.js';
import type { Config } from '../process/config.js';
import { keptOnce } from './kept-once.js';

const make = () => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim();

/**
 * @returns the private key
 * @throws ScenedeltaError 'invalid-request' if the file has no such key, 'storage-unavailable' if it cannot be kept
 */
export async function loadEvidenceKey(config: Pick<Config, 'evidenceKeyFile' | 'dataDir'>): Promise<KeyObject> {
  const file = config.evidenceKeyFile ?? join(config.dataDir, 'evidence.key');
  const pem = await keptOnce(file, make, 'the key of evidence packages');
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // reported below, without the text
  }
  throw invalidRequest(`${file}: expected an Ed25519 key as PEM`);
}

/** @param key private or public @returns the public key as PEM */
export const publicPem = (key: KeyObject): string =>
  (key.type === 'public' ? key : createPublicKey(key)).export({ type: 'spki', format: 'pem' }).toString();
