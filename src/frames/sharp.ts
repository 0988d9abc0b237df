/**
 * The image library with this project's settings. It is loaded through its CommonJS build, because its ES module uses
 * import attributes, which Node has only from 20.10 on, and this project supports 20.9.
 */
import { createRequire } from 'node:module';
import type sharpModule from 'sharp';

const sharp = createRequire(import.meta.url)('sharp') as typeof sharpModule;
// One thread per image, because several images are decoded at a time. No cache, because a frame seldom comes twice.
sharp.concurrency(1);
sharp.cache(false);
// Only the decoders of the accepted formats: others (SVG, PDF, ...) would offer more attack surface to a sender of
// frames.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Heif', 'Tiff', 'Nsgif'].map((format) => `VipsForeignLoad${format}`),
});

export default sharp;
export type { Metadata, Sharp } from 'sharp';
