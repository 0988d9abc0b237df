/**
 * What everything that touches a bundle knows. Apart from the manifest's schema, so that an inference thread, which is given a
 * manifest that was read already, starts without the schema library: a third of its imports' time.
 */

/** Cell of the coarse and of the fine features, in pixels of the network's input. */
export const COARSE_STRIDE = 16;
export const FINE_STRIDE = 8;

/** A bundle that may not be served: which file, and why, on one line. */
export class BundleError extends Error {
  readonly file: string;

  constructor(file: string, reason: string, options?: { cause?: unknown }) {
    super(`${file}: ${reason}`, options);
    this.name = 'BundleError';
    this.file = file;
  }
}
