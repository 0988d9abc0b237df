/**
 * Places of the batches in one worker. A job holds one while it decodes and compares, and none while it waits for bytes
 * of an address or a bucket, so that slow ones delay no other job. Each owner of API keys has a share.
 */
import { Semaphore } from 'async-mutex';
import { createShares } from '../jobs/shares.js';

/** Jobs that a worker holds; most of them wait. */
export const BATCH_JOBS = 16;
/** Recordings that are decoded at a time: each has the memory of an ffmpeg. */
const PLACES = 4;
const OF_OWNER = { jobs: 6, places: 2 } as const;
const SPACING_MS = 250;

export interface Place {
  /** Waits for room, in the order of the calls. */
  take(): Promise<void>;
  /** Gives the place up until `wait` has settled. */
  readonly aside: <T>(wait: Promise<T>) => Promise<T>;
  /** Ends the job. */
  leave(): void;
}

/** @param clock epoch ms */
export function createBatchPlaces(clock: () => number) {
  const all = new Semaphore(PLACES);
  const ofOwners = new Map<string, Semaphore>();
  const shares = createShares(() => OF_OWNER.jobs, SPACING_MS, clock);
  return {
    /** @returns a place that has not been taken yet; or the time (epoch ms) at which to try again */
    enter(owner: string): Place | { readonly laterAt: number } {
      const room = shares.enter([owner]);
      if ('laterAt' in room) return room;
      const ofOwner = ofOwners.get(owner) ?? new Semaphore(OF_OWNER.places);
      ofOwners.set(owner, ofOwner);
      let held: (() => void) | undefined;
      const take = async () => {
        const [, leaveOwner] = await ofOwner.acquire();
        const [, leaveAll] = await all.acquire();
        held = () => {
          leaveAll();
          leaveOwner();
        };
      };
      const giveUp = () => {
        held?.();
        held = undefined;
      };
      return {
        take,
        async aside(wait) {
          giveUp();
          try {
            return await wait;
          } finally {
            await take();
          }
        },
        leave() {
          giveUp();
          room.leave();
        },
      };
    },
  };
}
