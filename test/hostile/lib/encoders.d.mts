/** Types of encoders.mjs. */
export function pngChunk(type: string, body: Buffer): Buffer;
export function solidPng(
  width: number,
  height: number,
  options?: {
    depth?: 1 | 2 | 4 | 8 | 16;
    colourType?: 0 | 2 | 4 | 6;
    interlaced?: boolean;
    /** further chunks before the pixels */
    chunks?: readonly Buffer[];
  },
): Buffer;
export function gifOfImages(width: number, height: number, images: number): Buffer;
export function webpOfImages(width: number, height: number, images: number): Buffer;
export function tiffOfPages(
  width: number,
  height: number,
  pages: number,
  options?: { bits?: number; samples?: number; format?: 1 | 3 },
): Buffer;
export function jpegOfScans(width: number, height: number, scans: number): Buffer;
