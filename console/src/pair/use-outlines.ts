/** Outlines of a comparison for the word that is looked at, read when they are needed. */
import type { Signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { Box, Comparison, Side } from '../api/types.js';
import { type Outlines, readOutlines } from './outlines.js';

/** @param boxes regions of one change; without it, the whole comparison is outlined */
export function useOutlines(
  comparison: Comparison | null,
  word: Signal<number | null>,
  boxes?: Readonly<Record<Side, readonly Box[]>>,
): Outlines | null {
  const [outlines, setOutlines] = useState<Outlines | null>(null);
  const position = word.value;
  useEffect(() => {
    if (comparison === null) return setOutlines(null);
    let current = true;
    void readOutlines(comparison, position, position === null ? boxes : undefined).then((read) => {
      if (current) setOutlines(read);
    });
    return () => {
      current = false;
    };
  }, [comparison, position, boxes]);
  return outlines;
}
