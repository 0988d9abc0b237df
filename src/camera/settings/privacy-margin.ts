/**
 * Width in pixels of the margin that is painted around a zone. JPEG and similar formats code blocks of up to 16 px, so
 * hidden content colours every block that it touches; upsampling of the colour channels spreads it one pixel further.
 */
export const LOSSY_MARGIN = 17;
