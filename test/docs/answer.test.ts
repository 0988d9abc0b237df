/** docs/answer.md: the example is a valid answer of the default bundle, and the table explains every field. */
import { readFileSync } from 'node:fs';
import { Value } from 'typebox/value';
import { type AskAnswer, AskAnswerSchema } from '../../src/schemas/ask.js';
import { type Comparison, ComparisonSchema } from '../../src/schemas/comparison.js';
import { roundFigures } from '../../src/schemas/rounding.js';

const page = readFileSync('docs/answer.md', 'utf8');
const json = /```json\n([\s\S]*?)\n```/.exec(page)?.[1] ?? '';
const answer = JSON.parse(json) as Comparison;

it('the example fits the schema of a comparison', () => {
  expect([...Value.Errors(ComparisonSchema, answer)]).toEqual([]);
});

it('the example is rounded as answers are', () => {
  expect(roundFigures(answer)).toEqual(answer);
});

it('the caption consists of the words, and README.md shows the same caption', () => {
  expect(answer.words?.map(({ text }) => text).join(' ')).toBe(answer.caption);
  expect(readFileSync('README.md', 'utf8')).toContain(`> **${answer.caption}**`);
});

it('the example is of the default bundle at its present version', () => {
  const { name, version } = JSON.parse(readFileSync('models/scorer-surveillance/manifest.json', 'utf8'));
  expect(answer.model).toMatchObject({ name, version });
});

it('the example of a question fits its schema, and is rounded', () => {
  const [, example = ''] = page.split('## Questions')[1]?.split('```json') ?? [];
  const asked = JSON.parse(example.split('```')[0] ?? '') as AskAnswer;
  expect([...Value.Errors(AskAnswerSchema, asked)]).toEqual([]);
  expect(roundFigures(asked)).toEqual(asked);
});

it('the table explains every field of the example, except for the times of creation and end', () => {
  const [table = ''] = page.split('## Fields\n\n')[1]?.split('\n\n') ?? [];
  const explained = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );
  const fields = Object.keys(answer).filter((name) => !name.endsWith('_at'));
  expect(explained.sort()).toEqual(fields.sort());
});
