import { fitPriors, type NamedChange } from '../../src/tuning/name-priors.js';
import { NAMES } from '../model/names.js';

const likely = (of: Record<string, number>) =>
  Object.entries(of).map(([value, probability]) => ({ value, probability }));
/** By four people in turn. */
const changes = (count: number, sentence: string, nouns: Record<string, number>, colours = {}): NamedChange[] =>
  Array.from({ length: count }, (_, i) => ({
    ...{ sentence, nouns: likely(nouns), colours: likely(colours) },
    source: `key_${i % 4}`,
  }));
const doubt = { car: 0.6, van: 0.4 };

describe('fitPriors', () => {
  it('weighs what operators name more often than the bundle expects', () => {
    const { priors, labels } = fitPriors(changes(60, 'a van has left', doubt), NAMES);
    expect(labels).toBe(60);
    expect(priors?.nouns.van).toBeGreaterThan(1.3);
    expect(priors?.nouns.car).toBeLessThan(0.7);
  });

  it('stays within a quarter and four, however many sentences there are', () => {
    const { priors } = fitPriors(changes(5_000, 'a van has left', { car: 0.94, van: 0.06 }), NAMES);
    expect(priors?.nouns).toEqual({ car: 0.25, van: 4 });
  });

  it('reads synonyms, and wider nouns as all of their classes', () => {
    const synonyms = fitPriors(changes(60, 'a delivery van has left', doubt), NAMES);
    expect(synonyms.priors?.nouns.van).toBeGreaterThan(1.3);
    expect(fitPriors(changes(60, 'a vehicle has left', doubt), NAMES)).toMatchObject({ priors: null, labels: 60 });
  });

  it('weighs colours', () => {
    const painted = changes(60, 'a red car has left', { car: 0.95 }, { red: 0.5, black: 0.5 });
    expect(fitPriors(painted, NAMES).priors?.colours).toMatchObject({ red: expect.any(Number) });
  });

  it('does not learn what the pictures exclude', () => {
    const poisoned = changes(500, 'a horse has left', doubt);
    expect(fitPriors(poisoned, NAMES)).toEqual({ priors: null, labels: 0, contradicted: 500, bounded: [] });
    const mixed = [...poisoned, ...changes(60, 'a van has left', doubt)];
    expect(fitPriors(mixed, NAMES)).toMatchObject({ priors: null, contradicted: 500 });
  });

  it('lets one source move a class by no more than a factor of two, and names the classes', () => {
    const seen = { person: 0.6, car: 0.2, van: 0.2 };
    const poison = changes(40, 'a van has left', seen).map((one) => ({ ...one, source: 'key_poison' }));
    const alone = fitPriors(poison, NAMES);
    expect(alone.priors?.nouns.van).toBe(2);
    expect(alone.bounded).toContain('van');
    // The same sentences of four sources count in full.
    expect(fitPriors(changes(40, 'a van has left', seen), NAMES).priors?.nouns.van).toBeGreaterThan(2);
    const honest = changes(40, 'a car has left', seen);
    const without = fitPriors(honest, NAMES).priors?.nouns;
    const mixed = fitPriors([...honest, ...poison], NAMES).priors?.nouns;
    for (const name of ['car', 'van']) {
      const moved = (mixed?.[name] ?? 1) / (without?.[name] ?? 1);
      expect(moved).toBeGreaterThanOrEqual(0.49);
      expect(moved).toBeLessThanOrEqual(2.01);
    }
  });

  it('needs enough sentences that can be read', () => {
    expect(fitPriors(changes(19, 'a van has left', doubt), NAMES)).toMatchObject({ priors: null, labels: 19 });
    expect(fitPriors(changes(60, '🚚 !!', doubt), NAMES)).toMatchObject({ priors: null, labels: 0 });
  });
});
