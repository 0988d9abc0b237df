/** Lines of the list that are chosen, to be judged at once. */
import { signal } from '@preact/signals';
import type { Entry } from './visits.js';

/** ids of entries. The set is replaced whenever it changes. */
export const marked = signal<ReadonlySet<string>>(new Set());

const mark = (ids: readonly string[]): void => {
  marked.value = new Set([...marked.peek(), ...ids]);
};

export function toggleMark(id: string | undefined): void {
  if (id === undefined) return;
  if (!marked.peek().has(id)) mark([id]);
  else marked.value = new Set([...marked.peek()].filter((one) => one !== id));
}

export const markAll = (entries: readonly Entry[]): void => mark(entries.map(({ id }) => id));

export function unmark(): void {
  if (marked.peek().size > 0) marked.value = new Set();
}

/** Marks the lines between two, in either order, with both. An unknown end marks the other alone. */
export function markRange(entries: readonly Entry[], from: string | undefined, to: string | undefined): void {
  const ends = [from, to].map((end) => entries.findIndex(({ id }) => id === end)).filter((at) => at >= 0);
  if (ends.length > 0) mark(entries.slice(Math.min(...ends), Math.max(...ends) + 1).map(({ id }) => id));
}

/** @returns the chosen lines */
export const markedEntries = (entries: readonly Entry[]): Entry[] =>
  marked.value.size === 0 ? [] : entries.filter(({ id }) => marked.value.has(id));
