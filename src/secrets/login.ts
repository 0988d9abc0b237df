/**
 * Logins of cameras: a user name and a password, encrypted at rest (seal.ts). The context of a login is its camera and
 * the origin of its address, so that a stored login cannot be moved to another address.
 */
import { hkdfSync } from 'node:crypto';
import { invalidRequest, ScenedeltaError } from '../base/errors.js';
import type { Config } from '../process/config.js';
import { openSealed, sealText } from './seal.js';

export interface Login {
  readonly username: string;
  readonly password: string;
}

const LEAST_SECRET = 32;

/**
 * @param webhookSecret used without LOGIN_SECRET; webhooks and links cannot be signed with the derived key
 * @throws ScenedeltaError 'invalid-request' if LOGIN_SECRET is too short
 */
export function loginKey({ loginSecret }: Pick<Config, 'loginSecret'>, webhookSecret: string): Buffer {
  if (loginSecret !== null && loginSecret.length < LEAST_SECRET) {
    throw invalidRequest(
      `LOGIN_SECRET has ${loginSecret.length} characters, expected at least ${LEAST_SECRET}`,
      'LOGIN_SECRET',
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

export const sealLogin = (login: Login, key: Buffer, context: string): string =>
  sealText(JSON.stringify([login.username, login.password]), key, context);

/** @throws ScenedeltaError 'invalid-request' if it was sealed with another key or for another context */
export function openLogin(sealed: string, key: Buffer, context: string): Login {
  try {
    const [username, password] = JSON.parse(openSealed(sealed, key, context)) as [string, string];
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
