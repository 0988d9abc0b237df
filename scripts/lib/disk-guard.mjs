/**
 * Guard of the data folder's disk. Redis ends if it cannot append to its file, and would be restarted without end on a
 * full disk. While space is short it refuses writes instead (its memory limit is set to one byte), so that the API
 * answers 503 to what must be stored and serves reads. If another program fills the disk between two looks, Redis has
 * ended already: a reserve file is then given up, which leaves it the space to start.
 */
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { redisCommand } from './redis.mjs';

const MiB = 1024 * 1024;
/** Enough for Redis to start and to delete, which it also does while it refuses writes. */
const RESERVE_BYTES = 16 * MiB;
/** Free space below which writes are refused, and above which they are accepted again. */
const LEAST_FREE = 16 * MiB;
const ENOUGH_FREE = 32 * MiB;
/** The same for files that can be created. */
const [LEAST_FILES, ENOUGH_FILES] = [16, 64];
const LOOK_MS = 1_000;

export class DiskGuard {
  #folder;
  #socket;
  #report;
  #statfs;
  #reserve;
  #timer;
  #full = false;

  /**
   * @param {{ dataDir: string, socket: string, report: (state: string) => void, statfs?: typeof statfsSync }} options
   *   socket: of the embedded Redis; statfs: replaces the reading of the file system in tests
   */
  constructor({ dataDir, socket, report, statfs = statfsSync }) {
    this.#folder = dataDir;
    this.#socket = socket;
    this.#report = report;
    this.#statfs = statfs;
    this.#reserve = join(dataDir, 'reserve');
  }

  /** Further arguments for a Redis that starts now. */
  redisArguments() {
    this.#measure();
    if (this.#full) rmSync(this.#reserve, { force: true });
    return this.#full ? ['--maxmemory', '1'] : [];
  }

  start() {
    this.#timer = setInterval(() => this.#look().catch(() => {}), LOOK_MS);
    this.#timer.unref();
    return this.#look();
  }

  stop() {
    clearInterval(this.#timer);
  }

  #free() {
    const { bavail, bsize, files, ffree } = this.#statfs(this.#folder);
    // File systems that make inodes as they need them, such as Btrfs, state 0 of 0.
    return { free: bavail * bsize, files: files > 0 ? ffree : Number.POSITIVE_INFINITY };
  }

  /** Updates the state. @returns whether it has changed */
  #measure() {
    const { free, files } = this.#free();
    const full = this.#full ? free < ENOUGH_FREE || files < ENOUGH_FILES : free < LEAST_FREE || files < LEAST_FILES;
    if (full === this.#full) return false;
    this.#full = full;
    const space = `${Math.floor(free / MiB)} MiB${files < ENOUGH_FILES ? ` and ${files} inodes` : ''} free`;
    this.#report(full ? `full (${space}): nothing is stored until there is space` : `has space again (${space})`);
    return true;
  }

  async #look() {
    const changed = this.#measure();
    // Repeated while the disk is full: Redis may have been restarted with other arguments in between.
    if (changed || this.#full) await redisCommand(this.#socket, 'CONFIG', 'SET', 'maxmemory', this.#full ? '1' : '0');
    if (!this.#full) this.#keepReserve();
  }

  /** Writes the reserve unless it is there. Blocks must be allocated: a sparse file would reserve nothing. */
  #keepReserve() {
    if (statSync(this.#reserve, { throwIfNoEntry: false })?.size === RESERVE_BYTES) return;
    if (this.#free().free < RESERVE_BYTES + ENOUGH_FREE) return;
    const file = openSync(this.#reserve, 'w', 0o600);
    try {
      const block = Buffer.alloc(MiB);
      for (let written = 0; written < RESERVE_BYTES; written += MiB) writeSync(file, block);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}
