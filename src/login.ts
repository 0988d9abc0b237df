/**
 * Logins of cameras: a user name and a password, encrypted at rest with AES-256-GCM. The context of a login (its camera
 * and the origin of its address) is authenticated with it, so that a stored login cannot be moved to another address.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Config } from './config.js';
import { ScenedeltaError } from './errors.js';

export interface Login {
  readonly username: string;
  readonly password: string;
}

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1.';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const LEAST_SECRET = 32;

/**
 * @param webhookSecret used without LOGIN_SECRET; the derived key is of no use for webhooks and links
 * @throws ScenedeltaError 'invalid-request' if LOGIN_SECRET is too short
 */
export function loginKey({ loginSecret }: Pick<Config, 'loginSecret'>, webhookSecret: string): Buffer {
  if (loginSecret !== null && loginSecret.length < LEAST_SECRET) {
    throw new ScenedeltaError(
      'invalid-request',
      `LOGIN_SECRET has ${loginSecret.length} characters, expected at least ${LEAST_SECRET}`,
      { field: 'LOGIN_SECRET' },
    );
  }
  const info = 'scenedelta/camera-logins/1';
  return Buffer.from(hkdfSync('sha256', loginSecret ?? webhookSecret, '', info, 32));
}

/** @param url of the camera, without user name and password */
export const loginContext = (cameraId: string, url: string): string => {
  const { protocol, host } = new URL(url);
  return JSON.stringify([cameraId, protocol, host]);
};

/** @returns 'v1.' and base64url of initialisation vector, tag and ciphertext */
export function sealLogin(login: Login, key: Buffer, context: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(context));
  const text = Buffer.concat([cipher.update(JSON.stringify([login.username, login.password])), cipher.final()]);
  return VERSION + Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
}

/** @throws ScenedeltaError 'invalid-request' if it was sealed with another key or for another context */
export function openLogin(sealed: string, key: Buffer, context: string): Login {
  try {
    const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    const [username, password] = JSON.parse(text.toString()) as [string, string];
    return { username, password };
  } catch (cause) {
    throw new ScenedeltaError(
      'invalid-request',
      'the login of the camera cannot be decrypted, because LOGIN_SECRET or the webhook secret has changed: ' +
        'expected the earlier secret, or snapshot/username and snapshot/password once more',
      { field: 'snapshot/password', cause },
    );
  }
}
