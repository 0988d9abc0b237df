import { facts } from '../../lab/figures/facts.js';
import { appeared, assessed, both, man, pairOf, unchanged, van } from './labels.js';

describe('an answer that is wholly true', () => {
  it.each([
    // caption about a van that appeared at the lower left and a smaller man who left, kind, wholly true
    ['a van has appeared', 'appear', true],
    ['the man has left and a van has appeared', 'multi', true],
    ['a red vehicle has appeared on the right', 'appear', true],
    ['the man has left', 'disappear', false],
    ['a van has appeared and a dog has appeared', 'appear', false],
    ['two vans have appeared', 'appear', false],
    ['a van has appeared', 'multi', false],
    ['nothing has changed', 'none', false],
  ])('%s, of kind %s', (caption, kind, whollyTrue) => {
    expect(assessed(both, caption, kind).whollyTrue).toBe(whollyTrue);
  });

  it.each([
    // caption about the same pair, then about a van that moved
    ['a van is now on the left', 'appear', true, true],
    ['the van has moved or another is there now', 'move', true, true],
    ['the van has moved', 'move', false, true],
    ['a van has appeared', 'appear', true, false],
    ['the van is no longer there', 'disappear', false, true],
  ])('%s: holds for what came, and for a move', (caption, kind, came, went) => {
    const moved = pairOf({
      verdict: 'change',
      kind: 'move',
      objects: [{ ...van, action: 'moved', boxes_before: [[10, 200, 80, 80]] }],
    });
    expect(assessed(both, caption, kind).whollyTrue).toBe(came);
    expect(assessed(moved, caption, kind).whollyTrue).toBe(went);
  });

  it('may name another thing than the largest if that is at least half as large', () => {
    const large = { ...man, boxes_before: [[700, 200, 80, 80]] };
    const pair = pairOf({ verdict: 'change', kind: 'multi', objects: [large, van] });
    expect(assessed(pair, 'the man has left', 'disappear').whollyTrue).toBe(true);
  });

  it('may name several things that one label counts', () => {
    const group = pairOf({ verdict: 'change', kind: 'appear', objects: [{ ...van, count: 3 }] });
    expect(assessed(group, 'two vans have appeared', 'appear').whollyTrue).toBe(true);
  });

  it('needs no kind of a sentence that has none', () => {
    expect(assessed(appeared, 'a van has appeared').whollyTrue).toBe(true);
  });

  it('has no outcome without a labelled thing', () => {
    expect(assessed(unchanged, 'a van has appeared', 'appear').whollyTrue).toBeNull();
  });
});

describe('a kind that agrees with the sentence', () => {
  it.each([
    ['a van has appeared', 'appear', true],
    ['a van has appeared', 'multi', false],
    ['A van has appeared, and others have moved.', 'multi', true],
    ['A van has appeared, and others have moved.', 'appear', false],
    ['A van has appeared, and others have appeared.', 'appear', true],
    ['A van has appeared, and another has moved.', 'multi', true],
    ['a van has appeared and the man has left', 'multi', true],
    ['a van has appeared and the man has left', 'appear', false],
    ['the man was replaced by a van', 'replace', true],
    ['the man was replaced by a van', 'appear', false],
    ['nothing has changed', 'none', null],
  ])('%s, of kind %s', (caption, kind, agrees) => {
    expect(assessed(both, caption, kind).kindAgrees).toBe(agrees);
  });
});

describe('a useless answer', () => {
  it.each([
    ['something has moved', true],
    ['something has appeared and an object has left', true],
    ['something has appeared and a van has appeared', false],
    ['the vehicle has left', false],
    ['nothing has changed', true],
  ])('%s', (caption, useless) => {
    expect(assessed(both, caption).useless).toBe(useless);
  });

  it('is counted among the changed pairs with labelled things', () => {
    const statements = ['something has moved', 'a van has appeared', 'something has moved'].map((caption) => ({
      caption,
      kind: null,
    }));
    expect(facts([both, appeared, unchanged], statements).useless).toMatchObject({ hits: 1, of: 2 });
  });
});
