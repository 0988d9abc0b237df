/** The keys of the service for notifications of browsers (VAPID, RFC 8292). */
import { createECDH, hkdfSync } from 'node:crypto';

/**
 * The key pair by which push services know this service. It derives from the key that all its processes share, so that
 * none has to be stored; another key ends all subscriptions.
 * @param loginKey the key that seals secrets
 */
export function vapidKeys(loginKey: Buffer): { readonly publicKey: string; readonly privateKey: string } {
  const scalar = Buffer.from(hkdfSync('sha256', loginKey, '', 'scenedelta/web-push/1', 32));
  // Below the order of P-256, whatever the other bits are.
  scalar[0] = (scalar[0] as number) & 0x7f;
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(scalar);
  return { publicKey: pair.getPublicKey('base64url'), privateKey: scalar.toString('base64url') };
}
