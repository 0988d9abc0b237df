/**
 * Encryption of small secrets at rest with AES-256-GCM. The context of a secret is authenticated with it, so that a
 * stored secret cannot be moved to another place.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1.';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * @param key 32 bytes
 * @returns 'v1.' and base64url of initialisation vector, tag and ciphertext
 */
export function sealText(text: string, key: Buffer, context: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(context));
  const encrypted = Buffer.concat([cipher.update(text), cipher.final()]);
  return VERSION + Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url');
}

/** @throws Error if it was sealed with another key or for another context */
export function openSealed(sealed: string, key: Buffer, context: string): string {
  const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString();
}
