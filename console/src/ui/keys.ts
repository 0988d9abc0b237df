/** Shortcuts of a view: one key each, as long as no field is being edited. */
import { useEffect, useRef } from 'preact/hooks';

const EDITED = 'input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]';

/** @param bindings by `event.key`; the latest ones count */
export function useKeys(bindings: Readonly<Record<string, () => void>>): void {
  const current = useRef(bindings);
  current.current = bindings;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.target instanceof Element && event.target.closest(`${EDITED}, dialog`) !== null) return;
      const run = current.current[event.key];
      if (run === undefined) return;
      event.preventDefault();
      run();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
