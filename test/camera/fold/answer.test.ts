/** The notes of an answer. */
import { expect, it } from '@jest/globals';
import { excludedNotes } from '../../../src/camera/fold/answer.js';

it.each([
  [1, '1 changed region does not count'],
  [2, '2 changed regions do not count'],
])('report about %i left-out regions that %s', (count, words) => {
  expect(excludedNotes(count)).toMatchObject([{ code: 'regions_left_out', detail: expect.stringContaining(words) }]);
});
