/**
 * Nuisances that may hide a thing anywhere. A frame with only other nuisances proves an absence as a clear one does. A
 * thing on the lens hides its own part of the view (`on_lens` of a finding).
 */
import type { Finding } from './comparison.js';

const HIDING: ReadonlySet<string> = new Set(['ir_switch', 'weather', 'defocus']);

/** Whether a thing that the frame does not show may still be there. */
export const mayHide = ({ nuisance }: Pick<Finding, 'nuisance'>): boolean =>
  nuisance.some(({ name }) => HIDING.has(name));
