/** Pauses that an event ends. */
export function createPause() {
  let end: () => void = () => {};
  let ended = false;
  return {
    /** Ends at once if something came since the pause before. */
    async wait(ms: number): Promise<void> {
      if (!ended) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      ended = false;
    },
    end(): void {
      ended = true;
      end();
    },
  };
}
