/** The format of Standard Webhooks 1.0: the unaltered payload of alerts. sign.ts adds the signature. */
import type { Format } from '../message.js';

export const standardWebhooks: Format = ({ payload }, { url }) => ({
  url,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(payload),
});
