/** Shares of the jobs that one worker has under way, per origin, owner or camera: one that hangs fills its own. */

/** Room for one job, or the time (epoch ms) at which to try again. */
export type Room = { readonly leave: () => void } | { readonly laterAt: number };

interface Share {
  running: number;
  /** epoch ms of the last job that was sent away */
  lastRetry: number;
}

/**
 * @param limitOf most jobs at a time under a name
 * @param spacingMs interval between two jobs that are tried again under one name, so that a long backlog costs little
 * @param clock epoch ms
 */
export function createShares(limitOf: (name: string) => number, spacingMs: number, clock: () => number) {
  const shares = new Map<string, Share>();
  const shareOf = (name: string): Share => shares.get(name) ?? { running: 0, lastRetry: 0 };
  return {
    /** Takes room under all names, or under none. */
    enter(names: readonly string[]): Room {
      const full = names.find((name) => shareOf(name).running >= limitOf(name));
      if (full !== undefined) {
        const share = shareOf(full);
        share.lastRetry = Math.max(share.lastRetry, clock()) + spacingMs;
        return { laterAt: share.lastRetry };
      }
      for (const name of names) {
        const share = shareOf(name);
        share.running++;
        shares.set(name, share);
      }
      return {
        leave() {
          for (const name of names) {
            const share = shareOf(name);
            if (--share.running === 0) shares.delete(name);
          }
        },
      };
    },
  };
}
