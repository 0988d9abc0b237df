/**
 * The error catalogue: per code its title, its HTTP status, and whether another attempt can help.
 * docs/errors.md lists the same codes (a test compares the two). RFC 9457 `type` = ERROR_TYPE_BASE + code.
 */
export const ERROR_TYPE_BASE = 'https://scenedelta.dev/errors/';

/** Another attempt may succeed. Without it the same input fails again, so it is never retried. */
const TRANSIENT = 'transient';
const catalogue = {
  'invalid-request': [400, 'The request does not fit the schema'],
  'malformed-body': [400, 'The request body cannot be parsed'],
  unauthorized: [401, 'An API key is required'],
  forbidden: [403, 'The API key lacks the scope'],
  'not-found': [404, 'No such resource'],
  'method-not-allowed': [405, 'The resource does not take this method'],
  'idempotency-in-flight': [409, 'A request with this Idempotency-Key is in progress', TRANSIENT],
  'not-finished': [409, 'The comparison has not finished', TRANSIENT],
  'frame-out-of-order': [409, 'A later frame of the camera has been worked on already'],
  gone: [410, 'The resource has been erased or has expired'],
  'payload-too-large': [413, 'The body or a frame is too large'],
  'unsupported-media-type': [415, 'The content type is not supported'],
  'image-unreadable': [422, 'A frame is not an image that can be decoded'],
  'image-too-large': [422, 'A frame has too many pixels'],
  'image-too-small': [422, 'A frame is too small to compare'],
  'frames-differ-in-shape': [422, 'The two frames do not have the same aspect ratio'],
  'unknown-model': [422, 'No such model'],
  'url-refused': [422, 'The address may not be requested'],
  'url-failed': [422, 'The address did not deliver an image'],
  'url-unavailable': [424, 'The address could not be reached', TRANSIENT],
  'invalid-value': [422, 'A value fits the schema and cannot be used'],
  'idempotency-mismatch': [422, 'The Idempotency-Key was used with another request'],
  'deadline-exceeded': [422, 'The deadline passed before the comparison started'],
  'processing-timeout': [422, 'The frames took too long to process'],
  cancelled: [410, 'The comparison was cancelled'],
  'too-many-requests': [429, 'The rate limit is used up', TRANSIENT],
  'queue-share-used': [429, 'The API key has too much work waiting', TRANSIENT],
  internal: [500, 'An unexpected error', TRANSIENT],
  'inference-failed': [500, 'The model could not be run', TRANSIENT],
  quarantined: [500, 'Workers died over the work'],
  'queue-unavailable': [503, 'The queue cannot be reached', TRANSIENT],
  'storage-unavailable': [503, 'The frames cannot be stored', TRANSIENT],
  overloaded: [503, 'Too much work is waiting', TRANSIENT],
  closing: [503, 'The service is closing', TRANSIENT],
} as const satisfies Readonly<Record<string, readonly [status: number, title: string, retry?: typeof TRANSIENT]>>;

export type ErrorCode = keyof typeof catalogue;
export const ERROR_CODES = Object.keys(catalogue) as ErrorCode[];
export function errorEntry(code: ErrorCode): { status: number; title: string; retry: 'permanent' | 'transient' } {
  const [status, title, retry = 'permanent'] = catalogue[code];
  return { status, title, retry };
}

/** RFC 9457 problem details, as sent over HTTP and as kept in a failed comparison. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** JSON pointer or form field that the problem concerns, if there is one */
  readonly field?: string;
}

export class ScenedeltaError extends Error {
  readonly code: ErrorCode;
  readonly field: string | undefined;

  /** @param detail a sentence for people, with the given value and the expected one */
  constructor(code: ErrorCode, detail: string, options: { field?: string | undefined; cause?: unknown } = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ScenedeltaError';
    this.code = code;
    this.field = options.field;
  }

  get status(): number {
    return errorEntry(this.code).status;
  }

  get permanent(): boolean {
    return errorEntry(this.code).retry === 'permanent';
  }

  toProblem(): Problem {
    const { status, title } = errorEntry(this.code);
    return {
      type: ERROR_TYPE_BASE + this.code,
      title,
      status,
      detail: this.message,
      ...(this.field === undefined ? {} : { field: this.field }),
    };
  }
}

const throwing =
  (code: ErrorCode) =>
  (detail: string, field?: string): ScenedeltaError =>
    new ScenedeltaError(code, detail, { field });
/** The errors that many places throw. @param field JSON pointer or form field that it concerns */
export const invalidRequest = throwing('invalid-request');
export const invalidValue = throwing('invalid-value');
export const notFound = throwing('not-found');
export const urlFailed = throwing('url-failed');

/** Whether a store of the service is away or takes no writes, for which no job can be blamed. */
export const isStoreRefusal = (thrown: unknown): boolean =>
  thrown instanceof ScenedeltaError && (thrown.code === 'queue-unavailable' || thrown.code === 'storage-unavailable');

/** Maps any thrown value to the catalogue; an unknown error becomes `internal`, and its text stays in the log. */
export function asScenedeltaError(thrown: unknown): ScenedeltaError {
  if (thrown instanceof ScenedeltaError) return thrown;
  return new ScenedeltaError('internal', 'The service met an unexpected error; its log has the details.', {
    cause: thrown,
  });
}
