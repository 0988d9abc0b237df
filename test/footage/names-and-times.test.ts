/** Times and cameras from names, options and time zones. */
import { instantOf, isoTimeIn } from '../../src/base/wall-clock.js';
import { clockInName } from '../../src/footage/inputs/clock-in-name.js';
import { readName } from '../../src/footage/inputs/names.js';
import { compileTemplate, PRESETS } from '../../src/footage/inputs/template.js';
import { parseCalendarTime, parseDuration, parseTimeOption } from '../../src/footage/inputs/times.js';

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
      'has {hour}, expected {camera}, {order}, {any}, {ext} or {NAME:FORMAT}',
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
    ['gate 2026-06-01 03-15-30 PM.jpg', '2026-06-01T15:15:30.000Z'],
    ['2026-06-01_12-15-30AM.jpg', '2026-06-01T00:15:30.000Z'],
    ['Screen Shot 2026-06-01 at 3.15.30 PM.png', '2026-06-01T15:15:30.000Z'],
    ['2026-06-01_13-15-30 PM.jpg', null],
    ['2026-06-01T10:15:30.123456+02:00.jpg', '2026-06-01T08:15:30.123Z'],
    ['2026-06-01T10-15-30+00-00_Front.mp4', '2026-06-01T10:15:30.000Z'],
    ['20260601T101530-05:00.jpg', '2026-06-01T15:15:30.000Z'],
    ['20260601-101530-0500.jpg', '2026-06-01T10:15:30.000Z'],
    ['2026-06-01_10-15.jpg', '2026-06-01T10:15:00.000Z'],
    ['IMG_20260601_0001.jpg', null],
    ['01.06.2026 10.15.30.jpg', '2026-06-01T10:15:30.000Z'],
    ['06-01-2026 10-15-30 AM.jpg', '2026-06-01T10:15:30.000Z'],
    ['06-25-2026_10-15-30.jpg', '2026-06-25T10:15:30.000Z'],
  ])('reads %s', (name, expected) => {
    expect(iso(clockInName(name, 'UTC')?.at ?? null)).toBe(expected);
  });
});

describe('names of cameras and recorders', () => {
  it.each<[path: string, camera: string | null, time: string | null, order?: number]>([
    ['a/crk04/20150619/192.168.88.67_01_20150619045313183_TIMING.jpg', '192.168.88.67_01', '2015-06-19T04:53:13.183Z'],
    ['a/yard/2026-11-25/pic_001/10.15.30[M][0@0][2].jpg', 'yard', '2026-11-25T10:15:30.000Z', 2],
    ['a/yard/2018-04-12/001/jpg/07/43/56[M][0@0][0].jpg', 'yard', '2018-04-12T07:43:56.000Z', 0],
    ['2026-11-25/pic_001/10.15.30[M][0@0][0].jpg', 'pic_001', '2026-11-25T10:15:30.000Z', 0],
    ['axis/image26-11-25_10-15-30-12.jpg', 'axis', '2026-11-25T10:15:30.120Z'],
    ['z/5/16/09/12/19/37/42/00003-capture.jpg', '5', '2016-09-12T19:37:42.000Z', 3],
    ['m/Camera1/2026-11-25/10-15-30.jpg', 'Camera1', '2026-11-25T10:15:30.000Z'],
    ['yi/2021Y07M05D14H/11M10S50.jpg', 'yi', '2021-07-05T14:11:10.000Z'],
    ['Front Door 11-25-2026, 9.15.30 AM GMT+1.jpg', 'Front Door', '2026-11-25T08:15:30.000Z'],
    ['Front Door 11-25-2026, 12.15.30 AM GMT+1.jpg', 'Front Door', '2026-11-24T23:15:30.000Z'],
    ['Front Door 11-25-2026, 13.15.30 GMT-03:30.jpg', 'Front Door', '2026-11-25T16:45:30.000Z'],
    ['reolink/Camera1_01_20261125101530.jpg', 'Camera1_01', '2026-11-25T10:15:30.000Z'],
    ['yard/RecM03_DST20230913_142522_142537_0.mp4', 'yard', '2023-09-13T14:25:22.000Z'],
    ['foscam/snap/MDAlarm_20261125-101530.jpg', 'foscam', '2026-11-25T10:15:30.000Z'],
    ['00626E123456(Gate)_0_20130701120000_123.jpg', 'Gate', '2013-07-01T12:00:00.000Z', 123],
    ['geo/MOTION_2026-11-25-10-15-30-123_001.jpg', 'geo', '2026-11-25T10:15:30.123Z', 1],
    ['syn/Cam-20261125-101530-1764065730.jpg', 'Cam', '2026-11-25T10:15:30.000Z', 1_764_065_730],
    ['new/FrontDoor.20261125_101530.3.jpg', 'FrontDoor', '2026-11-25T10:15:30.000Z', 3],
    ['clips/front-1718000000.123456-a1b2.jpg', 'front', '2024-06-10T06:13:20.123Z'],
    ['eu/25-11-2026_10-15-30.jpg', 'eu', '2026-11-25T10:15:30.000Z'],
    ['us/11-25-2026_10-15-30.jpg', 'us', '2026-11-25T10:15:30.000Z'],
    ['card/20110415/07/04.3gp', 'card', '2011-04-15T07:04:00.000Z'],
    ['mi/2026112510/15M30S_1764065730.mp4', 'mi', '2026-11-25T10:15:30.000Z'],
    ['gate/2026/11/25/20261125_101530_pre2.jpg', 'gate', '2026-11-25T10:15:30.000Z', -999_998],
    ['motion/yard/01-20261125101530-02.jpg', 'yard', '2026-11-25T10:15:30.000Z', 2],
    ['XVR_ch1_main_20261125101530_20261125102530.dav', 'XVR_ch1_main', '2026-11-25T10:15:30.000Z'],
    ['ch01_20261125_101530_20261125102000.mp4', 'ch01', '2026-11-25T10:15:30.000Z'],
    ['dlink/DCS-932L2026112510153001.jpg', 'dlink', '2026-11-25T10:15:30.000Z', 1],
    ['arlo/1764065730123.mp4', 'arlo', '2025-11-25T10:15:30.123Z'],
    ['eufy/T8410P1234_1764065730.jpg', 'eufy', '2025-11-25T10:15:30.000Z'],
    ['1234567890_20261125101530.jpg', '1234567890', '2026-11-25T10:15:30.000Z'],
    ['axis/20261125_101530_ABCD_ACCC8E/20261125_10/20261125_101530_1234.mkv', 'axis', '2026-11-25T10:15:30.000Z'],
    ['1234567890/frame-17.jpg', '1234567890', null],
    ['holiday/beach.jpg', 'holiday', null],
    ['yard/2026-13-25/10-15-30.jpg', 'yard', null],
  ])('reads %s', (path, camera, time, ...[order]) => {
    const { at, ...parts } = readName(path, 'UTC');
    expect([parts, iso(at)]).toEqual([{ camera, order: order ?? null }, time]);
  });

  it('reads local times in the zone of the camera, and those of Frigate in UTC', () => {
    const berlin = (path: string) => iso(readName(path, 'Europe/Berlin').at);
    expect(berlin('reolink/Camera1_01_20261125101530.jpg')).toBe('2026-11-25T09:15:30.000Z');
    expect(berlin('2026-06-01/14/front/05.10.mp4')).toBe('2026-06-01T14:05:10.000Z');
  });
});

describe('codes of templates', () => {
  const read = (template: string, path: string) => iso(compileTemplate(template, 'UTC').match(path)?.at);
  it.each([
    [
      '{m}/{d:%y/%m/%d}/{t:%H/%M/%S}.jpg'.replace('{m}', '{camera}'),
      '5/16/09/12/19/37/42.jpg',
      '2016-09-12T19:37:42.000Z',
    ],
    ['{d:%y%j-%H}.jpg', '26032-07.jpg', '2026-02-01T07:00:00.000Z'],
    ['{d:%d%b%Y} {t:%I.%M %p}.jpg', '05Nov2026 12.30 AM.jpg', '2026-11-05T00:30:00.000Z'],
    ['{d:%d%b%Y} {t:%I.%M %p}.jpg', '05nov2026 12.30 pm.jpg', '2026-11-05T12:30:00.000Z'],
    ['{d:%d-%m-%y}.jpg', '01-02-69.jpg', '1969-02-01T00:00:00.000Z'],
    ['{d:%Y-%j}.jpg', '2026-366.jpg', undefined],
    ['{d:%Y-%m-%d} {t:%I %p}.jpg', '2026-01-01 13 PM.jpg', undefined],
    ['{d:%d%b%Y}.jpg', '05Mai2026.jpg', undefined],
  ])('reads %s from %s', (template, path, expected) => {
    expect(read(template, path)).toBe(expected);
  });

  it('refuses an hour of twelve without AM or PM', () => {
    expect(() => compileTemplate('{t:%Y%m%d %I}', 'UTC')).toThrow('has %I or %p, expected both');
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
