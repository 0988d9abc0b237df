/**
 * Constants and the error type of bundles. They are separate from the manifest's schema, so that an inference thread,
 * which receives a parsed manifest, starts without the schema library: a third of the time of its imports.
 */

/** Side of a cell of the coarse and of the fine feature grid, in pixels of the network's input. */
export const COARSE_STRIDE = 16;
export const FINE_STRIDE = 8;

/** A bundle that cannot be served; the message names the file and the reason on one line. */
export class BundleError extends Error {
  readonly file: string;

  constructor(file: string, reason: string, options?: { cause?: unknown }) {
    super(`${file}: ${reason}`, options);
    this.name = 'BundleError';
    this.file = file;
  }
}

/** Parts of a sentence that can be false alone, in the order of the output `slots` of a graph `check`. */
export const SLOTS = ['action', 'noun', 'colour', 'place', 'count'] as const;
export type Slot = (typeof SLOTS)[number];
