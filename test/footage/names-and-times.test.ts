/** Times and cameras from names, options and time zones. */
import { compileTemplate, PRESETS, timeInName } from '../../src/footage/inputs/template.js';
import { parseCalendarTime, parseDuration, parseTimeOption } from '../../src/footage/inputs/times.js';
import { instantOf, isoTimeIn } from '../../src/footage/inputs/wall-clock.js';

const iso = (at: number | null | undefined) => (at == null ? at : new Date(at).toISOString());
const clock = (text: string) => {
  const [year, month, day, hour, minute, second] = text.split(/\D/).map(Number) as [
    ...[number, number, number],
    ...[number, number, number],
  ];
  return { year, month, day, hour, minute, second };
};

describe('templates', () => {
  it('reads camera and time of a recorder layout, in UTC', () => {
    const template = compileTemplate(PRESETS.frigate?.template ?? '', 'UTC');
    const parts = template.match('/media/recordings/2026-06-01/14/front_door/05.10.mp4');
    expect([parts?.camera, iso(parts?.at)]).toEqual(['front_door', '2026-06-01T14:05:10.000Z']);
  });

  it('reads digits without separators, fractions, and seconds of the epoch', () => {
    const dense = compileTemplate('{camera}-{t:%Y%m%d%H%M%S}_{f:%f}.{ext}', 'Europe/Berlin');
    expect(iso(dense.match('gate-20260601120005_25.jpg')?.at)).toBe('2026-06-01T10:00:05.250Z');
    expect(compileTemplate('{any}-{t:%s}.jpg', 'UTC').match('x/cam-1780315205.5.jpg')?.at).toBe(1_780_315_205_500);
  });

  it('fits no other name, and no date that the calendar does not have', () => {
    const template = compileTemplate('{camera}/{day:%Y-%m-%d}.jpg', 'UTC');
    for (const path of ['gate/2026-02-30.jpg', 'gate/2026-02-03.png', '2026-02-03.jpg', 'gate/x2026-02-03.jpg']) {
      expect(template.match(path)).toBeUndefined();
    }
  });

  it('names what it cannot read', () => {
    expect(() => compileTemplate('{hour}', 'UTC')).toThrow(
      'has {hour}, expected {camera}, {any}, {ext} or {NAME:FORMAT}',
    );
    expect(() => compileTemplate('{t:%Y', 'UTC')).toThrow('has { without its counterpart');
    expect(() => compileTemplate('{a:%H}{b:%H}', 'UTC')).toThrow('has %H twice');
  });
});

describe('times in names', () => {
  it.each([
    ['gate_2026-06-01_12-00-05.mp4', '2026-06-01T12:00:05.000Z'],
    ['VID20260601120005.jpg', '2026-06-01T12:00:05.000Z'],
    ['20260601T120005.250.jpg', '2026-06-01T12:00:05.250Z'],
    ['IMG_20260601_126105.jpg', null],
    ['frame-000123.jpg', null],
    ['serial-920260601120005.jpg', null],
  ])('reads %s', (name, expected) => {
    expect(iso(timeInName(name, 'UTC'))).toBe(expected);
  });
});

describe('time zones', () => {
  it('follows summer time, and takes the first of an hour that comes twice', () => {
    const berlin = (text: string) => iso(instantOf(clock(text), 'Europe/Berlin'));
    expect(berlin('2026-01-15 12:00:00')).toBe('2026-01-15T11:00:00.000Z');
    expect(berlin('2026-07-15 12:00:00')).toBe('2026-07-15T10:00:00.000Z');
    expect(berlin('2026-10-25 02:30:00')).toBe('2026-10-25T00:30:00.000Z');
    expect(berlin('2026-10-25 03:30:00')).toBe('2026-10-25T02:30:00.000Z');
    expect(berlin('2026-03-29 03:30:00')).toBe('2026-03-29T01:30:00.000Z');
  });
});

describe('printed times', () => {
  it.each([
    ['2026-06-01T12:00:00Z', 'Europe/Berlin', '2026-06-01T14:00:00.000+02:00'],
    ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25T02:30:00.000+02:00'],
    ['2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25T02:30:00.000+01:00'],
    ['2026-01-05T12:00:00.25Z', 'America/St_Johns', '2026-01-05T08:30:00.250-03:30'],
    ['2026-01-05T12:00:00Z', 'UTC', '2026-01-05T12:00:00.000Z'],
  ])('%s in %s is %s', (at, zone, text) => {
    expect(isoTimeIn(Date.parse(at), zone)).toBe(text);
    expect(Date.parse(text)).toBe(Date.parse(at));
  });
});

describe('options', () => {
  it('reads positions as clock, seconds, number of a frame, or time of the calendar', () => {
    const parse = (text: string) => parseTimeOption(text, '-st', 'Europe/Berlin');
    expect(parse('01:02:03.500')).toEqual({ seconds: 3723.5 });
    expect(parse('12.5s')).toEqual({ seconds: 12.5 });
    expect(parse('250')).toEqual({ frame: 250 });
    expect(parse('2026-06-01T12:00:00')).toEqual({ at: Date.UTC(2026, 5, 1, 10) });
    expect(parse('2026-06-01T12:00:00.5+05:30')).toEqual({ at: Date.UTC(2026, 5, 1, 6, 30, 0, 500) });
    expect(() => parse('12:99:00')).toThrow('-st "12:99:00": expected HH:MM:SS.nnn');
    expect(parseCalendarTime('2026-13-01', 'UTC')).toBeNull();
  });

  it('reads durations above 0', () => {
    expect(['10s', '500ms', '5m', '2h', '00:01:30'].map((text) => parseDuration(text, '--every'))).toEqual([
      10, 0.5, 300, 7200, 90,
    ]);
    expect(() => parseDuration('0s', '--every')).toThrow('expected a duration above 0');
  });
});
