/** Each person of a crop once, from the boxes of a detector. */
import { type DetectedPerson, peopleOf } from '../../src/model/people.js';

const RULE = { size: 100, margin: 2, min_side: 0, least: 0.3 };

/** Boxes as left, top, right, bottom in pixels, with their scores. */
const people = (...found: (readonly [score: number, ...box: number[]])[]): DetectedPerson[] =>
  peopleOf(
    Float32Array.from(found, ([score]) => score),
    Float32Array.from(found.flatMap(([, ...box]) => box)),
    RULE,
  );
const scores = (found: readonly DetectedPerson[]) => found.map(({ score }) => Number(score.toFixed(2)));

it('has the boxes in fractions of the crop, the highest score first', () => {
  const found = people([0.5, 10, 20, 30, 60], [0.9, 60, 20, 80, 70]);
  expect(scores(found)).toEqual([0.9, 0.5]);
  expect(found[1]?.box).toEqual({
    x: expect.closeTo(0.1),
    y: expect.closeTo(0.2),
    width: expect.closeTo(0.2),
    height: expect.closeTo(0.4),
  });
});

it('leaves out what is hardly a person', () => {
  expect(scores(people([0.29, 10, 20, 30, 60], [0.31, 60, 20, 80, 70]))).toEqual([0.31]);
});

it.each([
  ['the same box nearly', [12, 20, 32, 62]],
  ['a part of the person', [14, 20, 26, 40]],
])('has a person once, whom %s shows too', (_, box) => {
  expect(scores(people([0.8, 10, 20, 30, 60], [0.6, ...box]))).toEqual([0.8]);
});

it('has two people who overlap by a third', () => {
  expect(scores(people([0.8, 10, 20, 30, 60], [0.6, 23, 20, 43, 60]))).toEqual([0.8, 0.6]);
});

it('is empty without a box', () => {
  expect(people()).toEqual([]);
});
