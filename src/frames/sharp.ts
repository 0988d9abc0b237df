/**
 * The image library, through the one of its two builds that every Node from 20.9 on can read: its ES module uses import
 * attributes, which came with 20.10.
 */
import { createRequire } from 'node:module';
import type sharpModule from 'sharp';

const sharp = createRequire(import.meta.url)('sharp') as typeof sharpModule;
export default sharp;
export type { Metadata, Sharp } from 'sharp';
