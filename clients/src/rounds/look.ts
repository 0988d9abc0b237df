/** One look at all rounds: those that are due are compared, each once per day. */
import type { Clock } from '../clock.js';
import { Failure } from '../failure.js';
import { type Comparison, postPair } from '../frames.js';
import type { Service } from '../service.js';
import { LATE_MS, NEAR_MS, nearestPicture, type Picture, WIDEST_MS } from './pictures.js';
import { latestDay, type Round, type RoundDay, wallTime } from './times.js';

/** Age up to which a round is made up for after the client was away; an Idempotency-Key is kept for 24 hours. */
const OLDEST_MS = 12 * 3_600_000;

export interface LookDependencies {
  readonly service: Service;
  readonly clock: Clock;
  readonly print: (line: string) => void;
  /** keys of the rounds that are done; a look adds to it */
  readonly done: Set<string>;
}

/** @throws Failure of the service; the rounds before it are done */
export async function lookAtRounds(rounds: readonly Round[], deps: LookDependencies): Promise<void> {
  for (const round of rounds) {
    const now = deps.clock();
    const due = latestDay(round, now - NEAR_MS - LATE_MS);
    if (due === null || now - due.at > OLDEST_MS || deps.done.has(keyOf(round, due))) continue;
    const line = await compareRound(round, due, now, deps.service);
    if (line === undefined) continue;
    deps.done.add(keyOf(round, due));
    deps.print(`${due.day} ${round.camera} ${round.name}: ${line}`);
  }
}

/** By camera, round and day, so that a second client and a restarted one compare nothing twice. */
const keyOf = ({ camera, name }: Round, { day }: RoundDay): string =>
  `round/${camera}/${encodeURIComponent(name)}/${day}`;

/** @returns the outcome as a sentence; undefined: a later picture may still come */
async function compareRound(round: Round, due: RoundDay, now: number, service: Service): Promise<string | undefined> {
  const widths = now >= due.at + WIDEST_MS + LATE_MS ? [NEAR_MS, WIDEST_MS] : [NEAR_MS];
  const after = await nearestPicture(service, round, due.at, widths);
  if ('missing' in after && widths.length === 1) return undefined;
  const before = await nearestPicture(service, round, due.with, [NEAR_MS, WIDEST_MS]);
  if ('missing' in before || 'missing' in after) {
    return [before, after].flatMap((search) => ('missing' in search ? [search.missing] : [])).join('; ');
  }
  const times = `between ${wallTime(before.at, round.tz)} and ${wallTime(after.at, round.tz)}`;
  try {
    const { caption, id } = await post(round, due, { before, after }, service);
    return `${times} (${id}): ${caption ?? 'not compared yet'}`;
  } catch (thrown) {
    // Also the answer to a key that an earlier run used with other pictures.
    if (thrown instanceof Failure && thrown.kind === 'refused') return `${thrown.message}; ${times}`;
    throw thrown;
  }
}

function post(
  round: Round,
  due: RoundDay,
  { before, after }: { readonly before: Picture; readonly after: Picture },
  service: Service,
): Promise<Comparison> {
  const { camera, name, at, with: earlier, tz } = round;
  const captured_at = { before: new Date(before.at).toISOString(), after: new Date(after.at).toISOString() };
  return postPair(
    service,
    { before: before.bytes, after: after.bytes },
    {
      idempotencyKey: keyOf(round, due),
      camera,
      seconds_apart: (after.at - before.at) / 1000,
      metadata: { round: { name, day: due.day, at, with: earlier, tz, captured_at } },
    },
  );
}
