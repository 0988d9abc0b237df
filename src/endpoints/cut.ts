/** Cuts texts to the limits of receivers, between two characters as people see them (grapheme clusters, UAX 29). */

export interface TextLimit {
  readonly most: number;
  /** characters: UTF-16 code units, of which no receiver counts more; bytes: of UTF-8 */
  readonly unit: 'characters' | 'bytes';
}

const GRAPHEMES = new Intl.Segmenter('und', { granularity: 'grapheme' });
const ELLIPSIS = '…';

/** @returns the size of a text in the unit of a limit */
export const sizeOf = (text: string, { unit }: Pick<TextLimit, 'unit'>): number =>
  unit === 'bytes' ? Buffer.byteLength(text) : text.length;

/**
 * @param limit null: the receiver has none
 * @param encode escapes the text for the receiver; the limit is of the escaped text
 * @returns the escaped text, or as much of its beginning as fits with an ellipsis
 */
export function cut(text: string, limit: TextLimit | null, encode = (one: string): string => one): string {
  const escaped = encode(text);
  if (limit === null || sizeOf(escaped, limit) <= limit.most) return escaped;
  const ends: number[] = [];
  for (const { index } of GRAPHEMES.segment(text)) {
    // No code unit takes less than one of either unit, so that the rest of a long text needs no segmentation.
    if (index > limit.most) break;
    ends.push(index);
  }
  const cutAt = (count: number) => encode(text.slice(0, ends[count]).trimEnd()) + ELLIPSIS;
  let [fits, tooLong] = [0, ends.length];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (sizeOf(cutAt(middle), limit) <= limit.most) fits = middle;
    else tooLong = middle;
  }
  return cutAt(fits);
}
