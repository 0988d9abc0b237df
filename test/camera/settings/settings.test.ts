import type { ScenedeltaError } from '../../../src/base/errors.js';
import { checkSettings } from '../../../src/camera/settings/settings.js';

const zone = (polygon: number[][], more: object = {}) => ({ id: 'door', type: 'include', polygon, ...more });
const SQUARE = [
  [0.1, 0.1],
  [0.5, 0.1],
  [0.5, 0.5],
  [0.1, 0.5],
];

describe('settings of a camera', () => {
  it('have a default for every field', () => {
    expect(checkSettings({})).toEqual({
      name: null,
      model: null,
      before: 'memory',
      zones: [],
      threshold: null,
      false_alarms_per_day: null,
      truth: null,
      labels: [],
      locale: null,
      min_area: 0,
      schedule: null,
      suspend_until: null,
      alerts: {
        callback_url: null,
        confirm_frames: 2,
        persist_s: 0,
        cooldown_s: 300,
        left_after_s: 60,
        min_severity: 'low',
        severity_rules: [],
      },
      memory: { absorb_s: 14_400 },
      gap_s: 600,
      examine_every_s: 60,
      frozen_after_s: 300,
      covered_after_s: 300,
      silent_after_s: 300,
      retention: { frames_hours: null, results_hours: null },
      snapshot: null,
    });
  });

  it('keep given fields and fill in the others, inside zones and alerts as well', () => {
    const settings = checkSettings({
      zones: [zone(SQUARE, { severity: 'high' })],
      alerts: { confirm_frames: 3 },
      schedule: { timezone: 'Europe/Berlin', windows: [{ days: ['mon'], from: '22:00', to: '06:00' }] },
    });
    expect(settings.zones[0]).toEqual({
      ...zone(SQUARE),
      name: null,
      preposition: null,
      min_overlap: 0.3,
      min_area: null,
      threshold: null,
      severity: 'high',
    });
    expect(settings.alerts).toMatchObject({ confirm_frames: 3, cooldown_s: 300 });
  });

  it('do not change when they are checked again', () => {
    const once = checkSettings({ zones: [zone(SQUARE)], snapshot: { url: 'http://a/', interval_s: 5 } });
    expect(checkSettings(once)).toEqual(once);
  });
});

describe('invalid settings', () => {
  it.each([
    [
      'a polygon that crosses itself',
      {
        zones: [
          zone([
            [0, 0],
            [1, 1],
            [1, 0],
            [0, 1],
          ]),
        ],
      },
      'zones/0/polygon',
      /crosses itself/,
    ],
    [
      'a corner outside of the frame',
      {
        zones: [
          zone([
            [0, 0],
            [1.2, 0],
            [1, 1],
          ]),
        ],
      },
      'zones/0/polygon/1/0',
      /1\.2.*<= 1/,
    ],
    [
      'two corners',
      {
        zones: [
          zone([
            [0, 0],
            [1, 1],
          ]),
        ],
      },
      'zones/0/polygon',
      /array of at least 3/,
    ],
    [
      'a polygon without area',
      {
        zones: [
          zone([
            [0, 0],
            [0.5, 0.5],
            [1, 1],
          ]),
        ],
      },
      'zones/0/polygon',
      /folds back/,
    ],
    [
      'a corner of three numbers',
      {
        zones: [
          zone([
            [0, 0, 0],
            [1, 0],
            [1, 1],
          ]),
        ],
      },
      'zones/0/polygon/0',
      /array of at least 2 items and of at most 2 items/,
    ],
    ['two zones of one id', { zones: [zone(SQUARE), zone(SQUARE)] }, 'zones/1/id', /"door" a second time/],
    ['an unknown type of zone', { zones: [zone(SQUARE, { type: 'red' })] }, 'zones/0/type', /include, ignore, privacy/],
    ['an overlap above 1', { zones: [zone(SQUARE, { min_overlap: 1.5 })] }, 'zones/0/min_overlap', /1\.5/],
    [
      'an unknown time zone',
      { schedule: { timezone: 'Mars/Olympus', windows: [{ days: ['mon'], from: '00:00', to: '01:00' }] } },
      'schedule/timezone',
      /Mars\/Olympus/,
    ],
    [
      'an offset in place of a time zone',
      { schedule: { timezone: '+02:00', windows: [{ days: ['mon'], from: '00:00', to: '01:00' }] } },
      'schedule/timezone',
      /IANA/,
    ],
    [
      'an invalid time of day',
      { schedule: { timezone: 'UTC', windows: [{ days: ['mon'], from: '24:00', to: '01:00' }] } },
      'schedule/windows/0/from',
      /24:00/,
    ],
    ['a false-alarm budget below its range', { false_alarms_per_day: 0 }, 'false_alarms_per_day', /0\.01/],
    ['a false-alarm budget above its range', { false_alarms_per_day: 1001 }, 'false_alarms_per_day', /1000/],
    [
      'a false-alarm budget beside a threshold',
      { false_alarms_per_day: 1, threshold: 0.5 },
      'false_alarms_per_day',
      /beside threshold/,
    ],
    ['a threshold above 1', { threshold: 50 }, 'threshold', /50/],
    ['a share of truth that nothing reaches', { truth: 1 }, 'truth', /0\.99/],
    ['a share of truth below one half', { truth: 0.4 }, 'truth', /0\.5/],
    ['no frames to confirm with', { alerts: { confirm_frames: 0 } }, 'alerts/confirm_frames', /0/],
    [
      'a snapshot address of another scheme',
      { snapshot: { url: 'file:///etc/passwd', interval_s: 5 } },
      'snapshot/url',
      /file/,
    ],
    ['an interval of zero', { snapshot: { url: 'http://a/', interval_s: 0 } }, 'snapshot/interval_s', />= 1/],
    [
      'a rule for an unknown zone',
      { alerts: { severity_rules: [{ zone: 'roof', severity: 'low' }] } },
      'alerts/severity_rules/0/zone',
      /"roof"/,
    ],
    ['an invalid time', { suspend_until: 'tomorrow' }, 'suspend_until', /tomorrow/],
    ['an unknown member', { zone: [] }, 'zone', /unknown/],
    ['a string in place of an object', 'settings', undefined, /string "settings"/],
  ])('%s: refused, naming the field', (_what, body, field, message) => {
    const refused = (): ScenedeltaError => {
      try {
        checkSettings(body);
      } catch (error) {
        return error as ScenedeltaError;
      }
      throw new Error('accepted');
    };
    expect(refused()).toMatchObject({ code: expect.stringMatching(/^invalid-(request|value)$/), field });
    expect(refused().message).toMatch(message);
  });

  it('says by its code whether the schema or another rule is broken', () => {
    const codeOf = (body: unknown): string | undefined => {
      try {
        checkSettings(body);
      } catch (error) {
        return (error as ScenedeltaError).code;
      }
    };
    expect(codeOf({ threshold: 50 })).toBe('invalid-request');
    expect(codeOf({ threshold: 0.5, false_alarms_per_day: 1 })).toBe('invalid-value');
    expect(codeOf({ alerts: { severity_rules: [{ zone: 'roof', severity: 'low' }] } })).toBe('invalid-value');
  });
});
