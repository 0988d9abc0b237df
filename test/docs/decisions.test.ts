/** Decision records: a decision as title, a status, a date, a row in the index. */
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const FOLDER = 'docs/adr';
const RECORDS = readdirSync(FOLDER).filter((file) => /^\d{4}-.*\.md$/.test(file));
const read = (file: string) => readFileSync(`${FOLDER}/${file}`, 'utf8');
let verbs: readonly string[];
beforeAll(async () => {
  const { DECISION_VERBS } = (await import(resolve('scripts/lib/prose.mjs'))) as {
    DECISION_VERBS: readonly string[];
  };
  verbs = DECISION_VERBS;
});

it('gives each record its number, from the template 0000 on', () => {
  const numbers = RECORDS.map((file) => file.slice(0, 4));
  expect(numbers[0]).toBe('0000');
  expect(numbers).toEqual([...new Set(numbers)]);
});

describe.each(RECORDS)('%s', (file) => {
  it('has its number and a decision as its title', () => {
    const [, number, verb] = /^# (\d{4}): (\w+) /.exec(read(file)) ?? [];
    expect(number).toBe(file.slice(0, 4));
    expect(verbs).toContain(verb);
  });

  it('has a status and a date', () => {
    expect(read(file)).toMatch(/^Status: (accepted|superseded (in part )?by \[\d{4}\]\(.*\).*)$/m);
    expect(read(file)).toMatch(/^Date: \d{4}-\d{2}-\d{2}$/m);
  });

  it.each(['Context', 'Decision', 'Consequences'])('has a section %s', (section) => {
    expect(read(file)).toContain(`\n## ${section}\n`);
  });

  it('is listed in the index with its title', () => {
    const title = /^# \d{4}: (.+)$/m.exec(read(file))?.[1];
    if (!file.startsWith('0000')) expect(read('README.md')).toContain(`(${file}) | ${title} |`);
  });
});
