/** Runs at most `atOnce` tasks at a time, the others in the order they came. */
export function limited(atOnce: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      // the place is handed on, not given back, where somebody waits for it
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
