/**
 * Addresses that could never be requested are refused before any work is done. The worker, which requests them, checks again
 * with the name resolved.
 */
import { ScenedeltaError } from '../../errors.js';
import { SIDES } from '../../images.js';
import { type AllowList, checkUrlSyntax } from '../../outbound/address.js';
import type { IncomingComparison } from './request.js';

/** @throws ScenedeltaError 'url-refused' naming the field. */
export function assertFetchable(
  { options, ...frames }: IncomingComparison,
  rules: { allow: AllowList; s3Enabled: boolean },
): void {
  for (const side of SIDES) {
    const frame = frames[side];
    if (frame.from === 'url') assertUrl(frame.url, side, rules.allow);
    if (frame.from === 's3' && !rules.s3Enabled) {
      throw refused(
        `${side} is s3://${frame.bucket}/${frame.key}, but this service has no S3_ENDPOINT`,
        side,
      );
    }
  }
  if (options.callback_url !== undefined) assertUrl(options.callback_url, 'callback_url', rules.allow);
}

function assertUrl(url: string, field: string, allow: AllowList): void {
  try {
    checkUrlSyntax(url, { field, allow });
  } catch (err) {
    throw refused((err as Error).message, field);
  }
}

const refused = (detail: string, field: string) => new ScenedeltaError('url-refused', detail, { field });
