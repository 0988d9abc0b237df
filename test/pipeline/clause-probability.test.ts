import type { MapRegion } from '../../src/model/regions.js';
import { type ClauseEvidence, clauseProbability, evidenceOf } from '../../src/pipeline/clause-probability.js';
import { cropNames } from '../model/names.js';

const KINDS = ['none', 'appear', 'disappear', 'move', 'replace', 'multi'];
const region = (side: MapRegion['side'], score = 0.5, area = 0.01): MapRegion => ({
  ...{ side, score, area },
  box: { x: 0.1, y: 0.1, width: 0.1, height: 0.1 },
});
/** Logits of which each kind of change has the given share. */
const logits = (...shares: number[]) => Float32Array.from([0, ...shares], (share) => Math.log(share + 1e-12));
const statement = (kind: 'appear' | 'move' | 'disappear', regions = [region('after')], at = [0]) => ({
  ...{ at, regions, statement: { kind, verb: '', things: [], place: null, way: null } },
  kindLogits: logits(0.6, 0.1, 0.2, 0.05, 0.05),
});
const car = cropNames({ nothing: 0.01, car: 0.99 }, { red: 1 });
const man = cropNames({ nothing: 0.01, man: 0.99 }, { black: 1 });
const empty = cropNames({ nothing: 0.9, car: 0.1 }, { red: 1 });
const evidence = (...[one, shown, ends = []]: Partial<Parameters<typeof evidenceOf>>) =>
  evidenceOf(one as never, shown as never, ends, KINDS) as ClauseEvidence;
const share = (logOdds: number) => 1 / (1 + Math.exp(-logOdds));

describe('the evidence of a clause', () => {
  it('are the shares of its kind and of a move, the weakest region and the emptiness of the crop', () => {
    const found = evidence(statement('appear', [region('after', 0.8, 0.02), region('after', 0.7)]), [
      { before: empty, after: car },
    ]);
    expect([found.kind, found.move, found.score].map((one) => Number(share(one).toFixed(4)))).toEqual([0.6, 0.2, 0.7]);
    expect(share(found.nothing)).toBeCloseTo(0.01, 2);
    expect(found.area).toBeCloseTo(Math.log(0.02), 9);
    const gone = evidence(statement('disappear', [region('before')]), [{ before: empty, after: car }]);
    expect(gone.nothing).toBeGreaterThan(found.nothing);
  });

  it('counts a move against every other kind, but not against itself', () => {
    expect(evidence(statement('move', [region('before'), region('after')]), [{ before: car, after: car }]).move).toBe(
      0,
    );
  });

  it('knows the twin of the other frame: the more alike, the more probable is a move', () => {
    const ends = [{ before: 1, after: 0, kindLogits: logits(0.1, 0.1, 0.7, 0.05, 0.05) }];
    const twin = (other: typeof car) =>
      evidence(
        statement('appear'),
        [
          { before: empty, after: car },
          { before: other, after: empty },
        ],
        ends,
      ).twin;
    expect(share(twin(car))).toBeCloseTo(0.7, 1);
    expect(twin(man)).toBeLessThan(twin(car));
    expect(share(evidence(statement('appear'), [{ before: empty, after: car }]).twin)).toBeCloseTo(0.01, 9);
  });

  it('is unknown if the caption graph judges no kind', () => {
    expect(evidenceOf({ ...statement('appear'), kindLogits: null }, [], [], KINDS)).toBeUndefined();
  });
});

it('the probability is the sigmoid of the weighted evidence', () => {
  const zero = { kind: 0, move: 0, twin: 0, nothing: 0, score: 0, area: 0 };
  const weights = { kind: 1, move: -2, twin: 3, nothing: -4, score: 5, area: 6, offset: 0.5 };
  expect(clauseProbability(zero, weights)).toBeCloseTo(share(0.5), 12);
  for (const name of Object.keys(zero) as (keyof ClauseEvidence)[]) {
    expect(clauseProbability({ ...zero, [name]: 0.1 }, weights)).toBeCloseTo(share(0.5 + 0.1 * weights[name]), 12);
  }
});
