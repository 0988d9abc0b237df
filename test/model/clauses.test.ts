import { readFileSync } from 'node:fs';
import { wordsThatAgree } from '../../src/model/clauses.js';

/** Held to by the training code too, which judges checkpoints by the same sentences. */
const CASES = JSON.parse(readFileSync('test/fixtures/clauses.json', 'utf8')) as {
  kind: string;
  said: string;
  kept: string;
}[];

describe('wordsThatAgree', () => {
  it.each(CASES)('of "$said" ($kind) keeps "$kept"', ({ kind, said, kept }) => {
    const words = said.split(' ');
    expect(
      wordsThatAgree(words, kind)
        .map((i) => words[i])
        .join(' '),
    ).toBe(kept);
  });
});
