/** Errors of requests to foreign addresses, in words of the service. */
import { ScenedeltaError } from '../base/errors.js';
import { UntrustedCertificate } from '../process/connect.js';

/** Error codes of certificates in a connection that the mailer made, which another attempt does not change. */
const CERTIFICATE = /^(CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/**
 * Describes a failed exchange; the system's own text stays in `cause`, for the log.
 * @param address as it may be shown. @param options.timedOut whether the deadline of the exchange is over
 * @param options.certificate setting of the caller; undefined: it has none
 */
export function asUrlError(
  thrown: unknown,
  address: string,
  options: { field: string; timeoutMs: number; timedOut: boolean; certificate?: string | null | undefined },
): ScenedeltaError {
  const { field, timeoutMs, timedOut } = options;
  if (thrown instanceof ScenedeltaError) {
    return thrown.field === undefined
      ? new ScenedeltaError(thrown.code, thrown.message, { field, cause: thrown })
      : thrown;
  }
  const code = codeOf(thrown);
  if (thrown instanceof UntrustedCertificate || CERTIFICATE.test(code)) {
    const fingerprint = thrown instanceof UntrustedCertificate ? thrown.fingerprint : undefined;
    const detail = certificateText(address, code, fingerprint, options.certificate);
    return new ScenedeltaError('url-failed', detail, { field, cause: thrown });
  }
  const why =
    timedOut || code.endsWith('_TIMEOUT')
      ? `did not finish within ${timeoutMs} ms (OUTBOUND_TIMEOUT_MS)`
      : `could not be reached (${code})`;
  return new ScenedeltaError('url-unavailable', `${address} ${why}`, { field, cause: thrown });
}

function certificateText(
  address: string,
  code: string,
  fingerprint: string | undefined,
  setting: string | null | undefined,
): string {
  const shown = fingerprint === undefined ? '' : `, fingerprint ${fingerprint}`;
  if (code === 'OTHER_FINGERPRINT' || typeof setting === 'string') {
    return `${address} has another certificate than the setting certificate names (${code}${shown})`;
  }
  const known = 'expected one of a public authority or of NODE_EXTRA_CA_CERTS';
  const named = setting === null ? ', or its fingerprint or authority in the setting certificate' : '';
  return `${address} has a certificate that is not trusted (${code}${shown}): ${known}${named}`;
}

/** If several addresses were tried, Node wraps their errors in an AggregateError with the code of the first one. */
const codeOf = (thrown: unknown): string =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown && typeof thrown.code === 'string'
    ? thrown.code
    : 'no connection';

/** @returns the error for an address that delivers more than a frame may have */
export const tooLarge = (address: string, maxBytes: number, field: string): ScenedeltaError =>
  new ScenedeltaError('payload-too-large', `${address} has more than ${maxBytes} bytes (FRAME_LIMIT)`, { field });
