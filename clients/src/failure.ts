/** Failures that a person or a retry can act on. Every other error is a defect and keeps its stack. */

/**
 * usage: the call is wrong; unauthorized: the key or login is missing or refused; unavailable: another attempt may
 * succeed; refused: the same request fails again.
 */
export type FailureKind = 'usage' | 'unauthorized' | 'unavailable' | 'refused';

export class Failure extends Error {
  /** @param message a sentence for people, with the given value and the expected one */
  constructor(
    readonly kind: FailureKind,
    message: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = 'Failure';
  }
}

export const usage = (message: string, cause?: unknown): Failure => new Failure('usage', message, { cause });
export const refused = (message: string, cause?: unknown): Failure => new Failure('refused', message, { cause });

/** @param status of an HTTP answer that is no success. @returns its meaning for the next attempt */
export function failureOf(status: number, message: string): Failure {
  if (status === 401 || status === 403) return new Failure('unauthorized', message);
  return new Failure(status === 429 || status >= 500 ? 'unavailable' : 'refused', message);
}
