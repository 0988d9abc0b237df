/** Addresses that could never be fetched are refused before any work is done; the worker checks again, with the name resolved. */
import { ScenedeltaError } from '../../errors.js';
import { SIDES } from '../../images.js';
import type { ApiOptions } from '../dependencies.js';
import type { IncomingComparison } from './request.js';

/** @throws ScenedeltaError 'url-refused' naming the field. */
export function assertFetchable(incoming: IncomingComparison, options: Pick<ApiOptions, 's3Endpoint'>): void {
  for (const side of SIDES) {
    const frame = incoming[side];
    if (frame.from === 's3' && options.s3Endpoint === null) {
      throw new ScenedeltaError(
        'url-refused',
        `${side} is s3://${frame.bucket}/${frame.key}, but this service has no S3_ENDPOINT`,
        { field: side },
      );
    }
  }
}
