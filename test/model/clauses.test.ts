import { readFileSync } from 'node:fs';
import { filterClausesByKind } from '../../src/model/clauses.js';

/** Cases that the training code passes too. */
const CASES = JSON.parse(readFileSync('test/fixtures/clauses.json', 'utf8')) as {
  kind: string;
  said: string;
  kept: string;
}[];

describe('filterClausesByKind', () => {
  it.each(CASES)('of "$said" ($kind) keeps "$kept"', ({ kind, said, kept }) => {
    const words = said.split(' ');
    expect(
      filterClausesByKind(words, kind)
        .map((i) => words[i])
        .join(' '),
    ).toBe(kept);
  });
});
