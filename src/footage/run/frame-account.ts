/** The account of a recording: each frame that came in was looked at, or was skipped for a reason. */

/**
 * seen_twice: an earlier file shows the same time. same_interval: another frame of its interval was taken. outside: not
 * in the wanted part. damaged: the decoder met damage. unreadable: a picture that cannot be read or compared.
 */
export const SKIP_REASONS = ['seen_twice', 'same_interval', 'outside', 'damaged', 'unreadable'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

export interface FrameAccount {
  /** frames that the decoder handed over, and pictures that were opened */
  readonly in: number;
  /** frames that were not looked at */
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
}

export const EMPTY_ACCOUNT: FrameAccount = { in: 0, skipped: {} };

export function sumOfAccounts(accounts: readonly FrameAccount[]): FrameAccount {
  const skipped: Partial<Record<SkipReason, number>> = {};
  for (const reason of SKIP_REASONS) {
    const count = accounts.reduce((sum, account) => sum + (account.skipped[reason] ?? 0), 0);
    if (count > 0) skipped[reason] = count;
  }
  return { in: accounts.reduce((sum, account) => sum + account.in, 0), skipped };
}

/**
 * @param lookedAt frames
 * @returns frames that came in and that nothing accounts for; 0 unless the program has a fault
 */
export const unaccounted = (account: FrameAccount, lookedAt: number): number =>
  account.in - lookedAt - SKIP_REASONS.reduce((sum, reason) => sum + (account.skipped[reason] ?? 0), 0);

/** Counts what has happened since it was last asked. */
export class FrameLedger {
  #in = 0;
  #skipped: Partial<Record<SkipReason, number>> = {};

  came(): void {
    this.#in++;
  }

  skip(reason: SkipReason, frames = 1): void {
    this.#skipped[reason] = (this.#skipped[reason] ?? 0) + frames;
  }

  take(): FrameAccount {
    const account = { in: this.#in, skipped: this.#skipped };
    this.#in = 0;
    this.#skipped = {};
    return account;
  }
}
