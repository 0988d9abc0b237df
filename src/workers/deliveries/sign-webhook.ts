/** The headers of Standard Webhooks 1.0 with one signature per valid secret. */
import { Webhook } from 'standardwebhooks';

/**
 * @param message.id the same at every attempt, so that a receiver recognises a repetition
 * @param message.at time of the attempt, epoch ms
 * @param secrets 'whsec_...'; the signatures have their order
 */
export function signedHeaders(
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, new Date(at), body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': signatures.join(' '),
  };
}
