/** Presets of alerts with the things that alert, and the notes about settings that cannot alert. */
import { describe, expect, it } from '@jest/globals';
import { rulesOf } from '../../../src/camera/changes/rules.js';
import { severityOf } from '../../../src/camera/changes/severity.js';
import { alertNotes } from '../../../src/camera/settings/alert-notes.js';
import { PRESETS, type Preset, presetOf } from '../../../src/camera/settings/presets.js';
import { checkSettings } from '../../../src/camera/settings/settings.js';
import { compareSeverity } from '../../../src/schemas/kinds.js';

const NOON = Date.UTC(2026, 5, 1, 12);
const NIGHT = Date.UTC(2026, 5, 1, 23);
const sure = (...sentences: string[]) => sentences.map((when) => ({ when, p: 0.9 }));
const SEEN = {
  person: { kind: 'appear', judged: sure('a person has appeared') },
  car: { kind: 'appear', judged: sure('a vehicle has appeared') },
  'car goes': { kind: 'disappear', judged: sure('a vehicle has left') },
  bag: { kind: 'appear', object: 'object_left' },
  'bicycle taken': { kind: 'disappear', object: 'object_removed' },
  shadow: { kind: 'appear' },
  tamper: { kind: 'tamper' },
} as const;

/** The things that alert at a time. */
function alerted(preset: Preset, at: number): string[] {
  const rules = rulesOf('gate', checkSettings({ preset }));
  return Object.entries(SEEN).flatMap(([name, seen]) => {
    return compareSeverity(severityOf({ ...seen, regions: [] }, at, rules), rules.minSeverity) < 0 ? [] : [name];
  });
}

describe('A preset', () => {
  it.each<[Preset, string[]]>([
    ['people', ['person', 'tamper']],
    ['people_at_night', ['tamper']],
    ['things_left_or_taken', ['bag', 'bicycle taken', 'tamper']],
    ['vehicles', ['car', 'car goes', 'tamper']],
    ['everything', Object.keys(SEEN)],
    ['nothing', []],
  ])('%s alerts at noon %j', (preset, names) => {
    expect(alerted(preset, NOON)).toEqual(names);
  });

  it('of the night alerts people after ten in the evening', () => {
    expect(alerted('people_at_night', NIGHT)).toEqual(['person', 'tamper']);
  });

  it('is stored as its rules, beside the other alert settings, and known again by them', () => {
    for (const preset of PRESETS) {
      const settings = checkSettings({ preset, alerts: { cooldown_s: 60 } });
      expect('preset' in settings).toBe(false);
      expect([presetOf(settings), settings.alerts.cooldown_s]).toEqual([preset, 60]);
      // The settings of an answer may be sent back.
      expect(checkSettings({ ...settings, preset })).toEqual(settings);
    }
    expect(presetOf(checkSettings({ alerts: { min_severity: 'high' } }))).toBeNull();
  });

  it('is refused beside other rules, and if it does not exist', () => {
    expect(() => checkSettings({ preset: 'people', alerts: { min_severity: 'high' } })).toThrow(
      'preset is people beside another alerts.min_severity, expected one of the two',
    );
    expect(() => checkSettings({ preset: 'dogs' })).toThrow('preset is "dogs", expected one of people, ');
  });
});

describe('Notes', () => {
  const RECEIVERS = { ofChanges: 1, ofVisits: 1 };
  const notes = (body: object, receivers = RECEIVERS) =>
    alertNotes(checkSettings(body), receivers, NOON).map(({ field, detail }) => `${field}: ${detail}`);
  const days = ['mon'] as const;
  const schedule = { timezone: 'Europe/Berlin', windows: [{ days, from: '08:00', to: '18:00' }] };
  const polygon = [
    [0, 0],
    [1, 0],
    [1, 1],
  ];
  const withRules = (...severity_rules: object[]) => ({ alerts: { severity_rules } });

  it('are none about settings that can alert', () => {
    for (const preset of PRESETS.filter((one) => one !== 'nothing' && one !== 'people_at_night')) {
      expect(notes({ preset })).toEqual([]);
    }
    const always = { ...schedule, windows: [{ days, from: '00:00', to: '00:00' }] };
    expect(notes({ preset: 'people_at_night', schedule: always })).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    [
      'a night outside of the schedule',
      { preset: 'people_at_night', schedule },
      ['alerts.severity_rules.1: Rule 2 never alerts: the schedule has none of its times.'],
    ],
    [
      'a night without a time zone',
      { preset: 'people_at_night' },
      ['alerts.severity_rules.1: Rule 2 is in UTC (22:00 to 06:00): a schedule names the time zone.'],
    ],
    [
      'the preset nothing',
      { preset: 'nothing' },
      ['alerts.severity_rules: No change is alerted: every rule is below min_severity (low).'],
    ],
    [
      'objects that never count',
      { preset: 'things_left_or_taken', alerts: { left_after_s: 0 } },
      [
        'alerts.severity_rules.1: Rule 2 never holds: with left_after_s 0 no object counts as left.',
        'alerts.severity_rules.2: Rule 3 never holds: with left_after_s 0 no object counts as left.',
      ],
    ],
    [
      'a rule behind one for every change',
      withRules({ severity: 'high' }, { kind: 'move', severity: 'low' }),
      ['alerts.severity_rules.1: Rule 2 is never reached: rule 1 holds for every change.'],
    ],
    [
      'a zone that does not count',
      { zones: [{ id: 'tree', type: 'ignore', polygon }], ...withRules({ zone: 'tree', severity: 'high' }) },
      ['alerts.severity_rules.0: Rule 1 never holds: changes in the zone tree (ignore) do not count.'],
    ],
    [
      'alerts that are suspended',
      { suspend_until: '2026-06-02T00:00:00Z' },
      ['suspend_until: Nothing is alerted before 2026-06-02T00:00:00Z.'],
    ],
    ['a suspension that is over', { suspend_until: '2026-06-01T00:00:00Z' }, []],
  ])('name %s', (_what, body, expected) => {
    expect(notes(body)).toEqual(expected);
  });

  it('name alerts without a receiver', () => {
    const nobody = { ofChanges: 0, ofVisits: 0 };
    expect(notes({}, nobody)).toEqual([expect.stringContaining('Nobody is told')]);
    expect(notes({ alerts: { callback_url: 'https://r.example/' } }, nobody)).toEqual([]);
    const stay = withRules({ when: 'a person has stayed longer than 150 s', severity: 'high' });
    expect(notes(stay, { ofChanges: 1, ofVisits: 0 })).toEqual([
      'alerts.severity_rules.0: Rule 1 is about visits, and no endpoint gets visit.alerted.',
    ]);
  });
});
