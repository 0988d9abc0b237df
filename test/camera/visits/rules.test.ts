/** Rules about visits: which visits they hold for, and that each is alerted once. */
import { expect, it } from '@jest/globals';
import { foldVisits } from '../../../src/camera/visits/fold.js';
import { alertVisits, type VisitRule } from '../../../src/camera/visits/rules.js';
import { initialVisitsState, type VisitFrame } from '../../../src/camera/visits/state.js';
import { readRuleSentence } from '../../../src/language/people/rule-sentence.js';
import { compareSeverity, type Severity } from '../../../src/schemas/kinds.js';
import type { VisitEvent } from '../../../src/schemas/visit.js';
import { at, BLACK, frame, SETTINGS, START, thing, walk } from './made-frames.js';

function rule(when: string, severity: Severity, given: Partial<VisitRule> = {}): VisitRule {
  const read = readRuleSentence(when, []);
  if ('fault' in read) throw new Error(read.fault);
  return { when, said: read.said, severity, isInside: () => true, isDuring: () => true, ...given };
}

/** @returns per alert the second of its frame, the rule and the severity */
function alertsOf(frames: readonly VisitFrame[], rules: readonly VisitRule[], least: Severity = 'info') {
  let state = initialVisitsState();
  const alerted: VisitEvent[] = [];
  for (const one of frames) {
    const folded = foldVisits(state, one, SETTINGS);
    const next = alertVisits(folded.state, folded.events, {
      ...{ camera: one.camera, at: one.at, rules },
      isAlerted: (severity) => compareSeverity(severity, least) >= 0,
    });
    state = next.state;
    alerted.push(...next.events);
  }
  return alerted.map(({ type, visit }) => {
    expect(type).toBe('visit.alerted');
    return [(Date.parse(visit.alert?.at ?? '') - START) / 1000, visit.alert?.when, visit.alert?.severity];
  });
}

const stands = Array.from({ length: 40 }, (_, i) => frame(1 + i, [thing(at(0.4))]));
const gone = Array.from({ length: 5 }, (_, i) => frame(13 + i, []));
const STAY = 'a person has stayed longer than 20 s';

it('a long stay is alerted once, while it lasts', () => {
  expect(alertsOf(stands, [rule(STAY, 'high')])).toEqual([[22, STAY, 'high']]);
  expect(alertsOf(stands, [rule('a person in red has stayed longer than 20 s', 'high')])).toHaveLength(1);
  expect(alertsOf(stands, [rule('a person in blue has stayed longer than 20 s', 'high')])).toEqual([]);
  expect(alertsOf(stands, [rule('a car has stayed longer than 20 s', 'high')])).toEqual([]);
});

it('the time in a zone counts from the last entry', () => {
  const left = rule('a person has stayed longer than 5 s', 'high', { isInside: ({ x }) => x < 0.45 });
  const passes = walk(1, 13, 0);
  expect(alertsOf(passes, [left])).toEqual([]);
  const there = Array.from({ length: 10 }, (_, i) => frame(13 + i, [thing(at(0.4 + 0.08 * Math.max(0, 3 - i)))]));
  expect(alertsOf([...walk(1, 9, 0), ...there], [left]).map(([second]) => second)).toEqual([22]);
});

it('a thing that came and went is alerted at its end, if both lie in the times of the rule', () => {
  const when = 'a person came and left';
  const ended = [...walk(1, 13, 0), ...gone];
  expect(alertsOf(ended, [rule(when, 'low')]).map(([second]) => second)).toEqual([16]);
  const until = (second: number) => rule(when, 'low', { isDuring: (time) => time <= START + second * 1000 });
  expect([alertsOf(ended, [until(12)]).length, alertsOf(ended, [until(11)]).length]).toEqual([1, 0]);
});

it('the first rule that holds decides, and only a more severe one alerts again', () => {
  const rules = [rule('a person has stayed longer than 30 s', 'high'), rule(STAY, 'low'), rule(STAY, 'high')];
  expect(alertsOf(stands, rules).map(([second, , severity]) => [second, severity])).toEqual([
    [22, 'low'],
    [32, 'high'],
  ]);
  expect(alertsOf(stands, [rule(STAY, 'info'), rule(STAY, 'high')], 'low')).toEqual([]);
});

it('two visits have an alert each', () => {
  const two = Array.from({ length: 30 }, (_, i) =>
    frame(1 + i, [thing(at(0.1)), thing(at(0.7), 'after', { colours: BLACK, colour: 'black' })]),
  );
  expect(alertsOf(two, [rule(STAY, 'high')])).toHaveLength(2);
});
