/** The crops that the search vector of one change is made of. */
import { describe, expect, it } from '@jest/globals';
import { cropsAbout } from '../../src/pipeline/crops-about.js';

const box = (x: number, width = 0.1) => ({ x, y: 0.4, width, height: 0.1 });
const region = (x: number, side: 'before' | 'after' = 'after') => ({ side, box: box(x), area: 0.01, score: 0.9 });
const crop = (name: string, ...regions: ReturnType<typeof region>[]) => ({ name, regions });
const still = { region: <R>(one: R): R | null => one };

describe('the crops about a change', () => {
  const crops = [crop('car', region(0.1)), crop('bag', region(0.5)), crop('person', region(0.8, 'before'))];
  const namesAbout = (...places: ReturnType<typeof region>[]) =>
    cropsAbout(places, crops, 2, still).map(({ name }) => name);

  it('are those with one of its regions, in the same frame', () => {
    expect(namesAbout(region(0.52))).toEqual(['bag']);
    expect(namesAbout(region(0.8, 'before'))).toEqual(['person']);
    expect(namesAbout(region(0.8, 'after'))).toEqual(['car', 'bag']);
  });

  it('are both ends of a move, and never more than one run takes', () => {
    expect(namesAbout(region(0.5), region(0.8, 'before'))).toEqual(['bag', 'person']);
    expect(namesAbout(region(0.1), region(0.5), region(0.8, 'before'))).toEqual(['car', 'bag']);
  });

  it('are found where the camera moved, and a region that left the frame shows nothing', () => {
    const moved = {
      region: <R extends { box: { x: number } }>(one: R) => ({ ...one, box: { ...one.box, x: one.box.x + 0.3 } }),
    };
    expect(cropsAbout([region(0.4)], crops, 2, moved as never).map(({ name }) => name)).toEqual(['car']);
    expect(cropsAbout([region(0.5)], crops, 1, { region: () => null }).map(({ name }) => name)).toEqual(['car']);
  });
});
