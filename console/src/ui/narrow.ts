/** Whether the page has the width of a telephone, as `@media (max-width: 40rem)` in the styles. */
import { type ReadonlySignal, signal } from '@preact/signals';

const query = matchMedia('(max-width: 40rem)');
const width = signal(query.matches);
query.addEventListener('change', ({ matches }) => {
  width.value = matches;
});

export const isNarrow: ReadonlySignal<boolean> = width;
