/** The polygons that are painted black on a camera's frames, and the margin around them. */
import type { Polygon } from './polygon.js';

export interface PrivacyMask {
  /** changes whenever the polygons do */
  readonly id: string;
  readonly polygons: readonly Polygon[];
}

/**
 * Width in pixels of the margin that is painted around a zone. JPEG and similar formats code blocks of up to 16 px, so
 * hidden content colours every block that it touches; upsampling of the colour channels spreads it one pixel further.
 */
export const LOSSY_MARGIN = 17;
