/** Errors of requests to foreign addresses, in words of the service. */
import { ScenedeltaError } from '../base/errors.js';

/** Error codes of certificates, which another attempt does not change. */
const CERTIFICATE = /^(CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/**
 * Describes a failed exchange; the system's own text stays in `cause`, for the log.
 * @param address as it may be shown. @param options.timedOut whether the deadline of the exchange is over
 */
export function asUrlError(
  thrown: unknown,
  address: string,
  options: { field: string; timeoutMs: number; timedOut: boolean },
): ScenedeltaError {
  const { field, timeoutMs, timedOut } = options;
  if (thrown instanceof ScenedeltaError) {
    return thrown.field === undefined
      ? new ScenedeltaError(thrown.code, thrown.message, { field, cause: thrown })
      : thrown;
  }
  const code = codeOf(thrown);
  if (CERTIFICATE.test(code)) {
    return new ScenedeltaError('url-failed', `${address} has a certificate that is not trusted (${code})`, {
      field,
      cause: thrown,
    });
  }
  const why =
    timedOut || code.endsWith('_TIMEOUT')
      ? `did not finish within ${timeoutMs} ms (OUTBOUND_TIMEOUT_MS)`
      : `could not be reached (${code})`;
  return new ScenedeltaError('url-unavailable', `${address} ${why}`, { field, cause: thrown });
}

/** If several addresses were tried, Node wraps their errors in an AggregateError with the code of the first one. */
const codeOf = (thrown: unknown): string =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown && typeof thrown.code === 'string'
    ? thrown.code
    : 'no connection';

/** @returns the error for an address that delivers more than a frame may have */
export const tooLarge = (address: string, maxBytes: number, field: string): ScenedeltaError =>
  new ScenedeltaError('payload-too-large', `${address} has more than ${maxBytes} bytes (FRAME_LIMIT)`, { field });
