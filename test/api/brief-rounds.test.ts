/** Rounds in the daily brief: on the day of their later time, with the sentence, or with what there was. */
import { expect, it } from '@jest/globals';
import { roundIdOf } from '../../src/base/ids.js';
import { latestRound } from '../../src/camera/settings/rounds.js';
import type { StoredComparison } from '../../src/stores/comparisons/results.js';
import { ask, camera, DAY, fake, gate } from './brief-service.js';

const ROUND = { name: 'morning', at: '07:00', with: '16:50 yesterday', days: ['mon'], tz: 'UTC' } as const;
const TIMES = latestRound({ ...ROUND, days: [...ROUND.days] }, Date.parse(`${DAY}T08:00:00Z`));

function kept(part: object): string {
  camera('gate', { rounds: [ROUND] });
  const id = roundIdOf('gate', ROUND, TIMES as NonNullable<typeof TIMES>);
  const comparison = { id, camera: 'gate', status: 'finished', created_at: `${DAY}T07:03:00.000Z`, ...part };
  fake.results.kept.set(id, { comparison } as unknown as StoredComparison);
  return id;
}

it('has the sentence, both times and the address', async () => {
  const id = kept({ verdict: 'change', caption: 'a van has left' });
  expect((await gate()).rounds).toEqual([
    {
      ...{ name: 'morning', at: `${DAY}T07:00:00.000Z`, with: '2026-01-04T16:50:00.000Z' },
      ...{ comparison: id, verdict: 'change', caption: 'a van has left' },
      url: `https://sd.example/v1/comparisons/${id}`,
    },
  ]);
  expect((await ask(`?day=${DAY}&format=markdown`)).body).toContain(
    'morning, 2026-01-04 16:50 to 07:00: a van has left',
  );
  expect((await gate('?day=2026-01-06')).rounds).toEqual([]);
});

it('has what there was in place of a usable picture', async () => {
  kept({ status: 'failed', error: { detail: 'round "morning": no picture within 60 min' } });
  const { rounds } = await gate();
  expect(rounds).toMatchObject([{ verdict: null, caption: 'round "morning": no picture within 60 min' }]);
});
