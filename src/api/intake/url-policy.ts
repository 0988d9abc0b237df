/**
 * Checks of the addresses in a request, before any work is done. The worker, which fetches them, checks again after
 * resolving the name.
 */
import { invalidValue, ScenedeltaError } from '../../base/errors.js';
import type { IncomingFrame } from '../../frames/keep.js';
import { type AllowList, checkUrlSyntax, parseAllowList } from '../../outbound/address.js';
import { readCertificate } from '../../process/connect.js';
import { CERTIFICATE_EXPECTED } from '../../schemas/certificate.js';
import { checkSourceBucket, type SourceRules } from '../../stores/blobs/s3-sources.js';
import type { ApiOptions } from '../dependencies.js';

export interface FetchRules extends SourceRules {
  readonly allow: AllowList;
  readonly s3Enabled: boolean;
}

export const fetchRules = (
  options: Pick<ApiOptions, 'outboundAllow' | 's3Endpoint' | 's3FrameBucket' | 's3SourceBuckets'>,
): FetchRules => ({ ...options, allow: parseAllowList(options.outboundAllow), s3Enabled: options.s3Endpoint !== null });

/** @param frames by field name. @throws ScenedeltaError 'url-refused' naming the field */
export function assertFetchable(frames: Readonly<Record<string, IncomingFrame>>, rules: FetchRules): void {
  for (const [field, frame] of Object.entries(frames)) {
    if (frame.from === 'url') assertUrl(frame.url, field, rules.allow);
    if (frame.from !== 's3') continue;
    const { bucket, key } = frame;
    if (!rules.s3Enabled) {
      throw refused(`${field} is s3://${bucket}/${key}, but this service has no S3_ENDPOINT`, field);
    }
    const refusal = checkSourceBucket(bucket, rules);
    if (refusal !== null) throw refused(`${field} is s3://${bucket}/${key}: ${bucket} ${refusal}`, field);
  }
}

/** @throws ScenedeltaError 'url-refused' naming the field */
export function assertUrl(
  url: string,
  field: string,
  allow: AllowList,
  schemes: { rtsp?: boolean; mail?: boolean } = {},
): void {
  try {
    checkUrlSyntax(url, { field, allow, ...schemes });
  } catch (err) {
    throw refused((err as Error).message, field);
  }
}

/** @throws ScenedeltaError 'invalid-value' for a text that names no certificate */
export function assertCertificate(certificate: string | null, field: string): void {
  if (certificate === null || readCertificate(certificate) !== undefined) return;
  throw invalidValue(`${field} is ${JSON.stringify(certificate.slice(0, 80))}, ${CERTIFICATE_EXPECTED}`, field);
}

const refused = (detail: string, field: string) => new ScenedeltaError('url-refused', detail, { field });
