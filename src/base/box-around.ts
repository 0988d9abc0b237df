/** The box around several boxes. Pure; the page uses it too. */
import { type Box, union } from './images.js';

/** @returns null without any box */
export const boxAround = ([first, ...others]: readonly Box[]): Box | null =>
  first === undefined ? null : others.reduce(union, first);
