/** A judge with given weights; all others are 0. */
import { readFileSync } from 'node:fs';
import type { JudgeManifest } from '../../src/model/judge-schema.js';

const SHIPPED = JSON.parse(readFileSync('models/scorer-surveillance/manifest.json', 'utf8')).judge as JudgeManifest;
type Part = Exclude<keyof JudgeManifest, 'levels'>;

/** @param given weights of some columns, and `offset` */
const partOf = (part: Part, given: Readonly<Record<string, number>>) => {
  const { offset = 0, ...weights } = given;
  const zeros = Object.fromEntries(Object.keys(SHIPPED[part].weights).map((name) => [name, 0]));
  return { weights: { ...zeros, ...weights }, offset };
};

export const judgeOf = (given: Partial<Record<Part, Readonly<Record<string, number>>>> = {}): JudgeManifest =>
  ({
    ...Object.fromEntries(
      (['person', 'alike', 'link', 'single', 'move'] as const).map((part) => [part, partOf(part, given[part] ?? {})]),
    ),
    levels: { person: 0.5, link: 0.5, move: 0.3, identity: 0, known: 0.3, stated: 0.7, others: 0.6 },
  }) as JudgeManifest;

/** Everything is as probable as not. */
export const JUDGE = judgeOf();
