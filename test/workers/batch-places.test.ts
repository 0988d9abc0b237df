/** Places of batches in a worker: one that waits for bytes holds none, and an owner fills its share alone. */
import { expect, it } from '@jest/globals';
import { BATCH_JOBS, createBatchPlaces, type Place } from '../../src/batches/places.js';

const entered = (places: ReturnType<typeof createBatchPlaces>, owner: string): Place => {
  const place = places.enter(owner);
  if ('laterAt' in place) throw new Error(`${owner} has no room`);
  return place;
};
/** @returns whether the place could be taken at once */
const isTaken = (taking: Promise<void>) =>
  Promise.race([taking.then(() => true), new Promise<boolean>((resolve) => setTimeout(resolve, 20, false))]);

it('gives an owner two of four places, and the other ones to others', async () => {
  const places = createBatchPlaces(() => 0);
  const greedy = [1, 2, 3].map(() => entered(places, 'greedy'));
  const taken = await Promise.all(greedy.map((place) => isTaken(place.take())));
  expect(taken).toEqual([true, true, false]);
  const modest = [1, 2].map(() => entered(places, 'modest'));
  expect(await Promise.all(modest.map((place) => isTaken(place.take())))).toEqual([true, true]);
  expect(await isTaken(entered(places, 'third').take())).toBe(false);
});

it('lets others go on while one waits for bytes, and goes on in its turn', async () => {
  const places = createBatchPlaces(() => 0);
  const [a, b, c] = [1, 2, 3].map(() => entered(places, 'one')) as [Place, Place, Place];
  await Promise.all([a.take(), b.take()]);
  let arrive = (_bytes: string) => {};
  const waiting = a.aside(
    new Promise<string>((resolve) => {
      arrive = resolve;
    }),
  );
  expect(await isTaken(c.take())).toBe(true);
  arrive('bytes');
  expect(await isTaken(waiting.then(() => {}))).toBe(false);
  c.leave();
  expect(await waiting).toBe('bytes');
});

it('sends the jobs of an owner away that has a share of those of the worker', () => {
  const places = createBatchPlaces(() => 1_000);
  const held = Array.from({ length: BATCH_JOBS }, () => places.enter('greedy'));
  const later = held.flatMap((place) => ('laterAt' in place ? [place.laterAt] : []));
  expect(later.length).toBeGreaterThan(BATCH_JOBS / 2);
  expect(Math.min(...later)).toBeGreaterThan(1_000);
  expect(places.enter('modest')).not.toHaveProperty('laterAt');
});
