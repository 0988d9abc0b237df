/**
 * The error catalogue: per code its title, its HTTP status, and whether another attempt can help.
 * docs/errors.md lists the same codes (a test compares the two). RFC 9457 `type` = ERROR_TYPE_BASE + code.
 */
export const ERROR_TYPE_BASE = 'https://scenedelta.dev/errors/';

interface CatalogueEntry {
  readonly status: number;
  readonly title: string;
  /** permanent: the same input fails again, so it is never retried; transient: another attempt may succeed. */
  readonly retry: 'permanent' | 'transient';
}

const catalogue = {
  'invalid-request': { status: 400, title: 'The request does not fit the schema', retry: 'permanent' },
  'malformed-body': { status: 400, title: 'The request body cannot be parsed', retry: 'permanent' },
  unauthorized: { status: 401, title: 'An API key is required', retry: 'permanent' },
  forbidden: { status: 403, title: 'The API key lacks the scope', retry: 'permanent' },
  'not-found': { status: 404, title: 'No such resource', retry: 'permanent' },
  'method-not-allowed': { status: 405, title: 'The resource does not take this method', retry: 'permanent' },
  'idempotency-in-flight': {
    status: 409,
    title: 'A request with this Idempotency-Key is in progress',
    retry: 'transient',
  },
  'not-finished': { status: 409, title: 'The comparison has not finished', retry: 'transient' },
  'frame-out-of-order': {
    status: 409,
    title: 'A later frame of the camera has been worked on already',
    retry: 'permanent',
  },
  gone: { status: 410, title: 'The resource has been erased or has expired', retry: 'permanent' },
  'payload-too-large': { status: 413, title: 'The body or a frame is too large', retry: 'permanent' },
  'unsupported-media-type': { status: 415, title: 'The content type is not supported', retry: 'permanent' },
  'image-unreadable': { status: 422, title: 'A frame is not an image that can be decoded', retry: 'permanent' },
  'image-too-large': { status: 422, title: 'A frame has too many pixels', retry: 'permanent' },
  'image-too-small': { status: 422, title: 'A frame is too small to compare', retry: 'permanent' },
  'frames-differ-in-shape': {
    status: 422,
    title: 'The two frames do not have the same aspect ratio',
    retry: 'permanent',
  },
  'unknown-model': { status: 422, title: 'No such model', retry: 'permanent' },
  'url-refused': { status: 422, title: 'The address may not be requested', retry: 'permanent' },
  'url-failed': { status: 422, title: 'The address did not deliver an image', retry: 'permanent' },
  'url-unavailable': { status: 424, title: 'The address could not be reached', retry: 'transient' },
  'invalid-value': { status: 422, title: 'A value fits the schema and cannot be used', retry: 'permanent' },
  'idempotency-mismatch': {
    status: 422,
    title: 'The Idempotency-Key was used with another request',
    retry: 'permanent',
  },
  'deadline-exceeded': { status: 422, title: 'The deadline passed before the comparison started', retry: 'permanent' },
  'processing-timeout': { status: 422, title: 'The frames took too long to process', retry: 'permanent' },
  cancelled: { status: 410, title: 'The comparison was cancelled', retry: 'permanent' },
  'too-many-requests': { status: 429, title: 'The rate limit is used up', retry: 'transient' },
  'queue-share-used': { status: 429, title: 'The API key has too much work waiting', retry: 'transient' },
  internal: { status: 500, title: 'An unexpected error', retry: 'transient' },
  'inference-failed': { status: 500, title: 'The model could not be run', retry: 'transient' },
  quarantined: { status: 500, title: 'Workers died over the work', retry: 'permanent' },
  'queue-unavailable': { status: 503, title: 'The queue cannot be reached', retry: 'transient' },
  'storage-unavailable': { status: 503, title: 'The frames cannot be stored', retry: 'transient' },
  overloaded: { status: 503, title: 'Too much work is waiting', retry: 'transient' },
  closing: { status: 503, title: 'The service is closing', retry: 'transient' },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof catalogue;
export const ERROR_CODES = Object.keys(catalogue) as ErrorCode[];
export const errorEntry = (code: ErrorCode): CatalogueEntry => catalogue[code];

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
    return catalogue[this.code].status;
  }

  get permanent(): boolean {
    return catalogue[this.code].retry === 'permanent';
  }

  toProblem(): Problem {
    const { status, title } = catalogue[this.code];
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
