/** GET /v1/brief: the day of each camera as JSON, Markdown and HTML. */
import { describe, expect, it } from '@jest/globals';
import type { Brief } from '../../src/schemas/brief.js';
import { ask, at, camera, change, DAY, fake, gate, HOUR, idsOf, read, setNow } from './brief-service.js';

describe('the lists of a brief', () => {
  it('have what came, left, moved and was replaced on the day, and what is still there or gone', async () => {
    const came = change(at('08:00'));
    const gone = change(at('09:00'), { kind: 'disappear', caption: 'the bin is gone' });
    const moved = change(at('10:00'), { kind: 'move', caption: 'the bin has moved' });
    const replaced = change(at('11:00'), { kind: 'replace', caption: 'a van has taken the place of the car' });
    const brief = await gate();
    expect(brief).toMatchObject({ camera: 'gate', day: DAY, timezone: 'UTC', over: true, truncated: false });
    expect([idsOf(brief.came), idsOf(brief.left), idsOf(brief.moved), idsOf(brief.replaced)]).toEqual(
      [came, gone, moved, replaced].map(({ id }) => [id]),
    );
    expect([idsOf(brief.still_there), idsOf(brief.still_gone)]).toEqual([[came.id, moved.id, replaced.id], [gone.id]]);
    expect(brief.came.groups[0]).toEqual({
      ...{ caption: came.caption, ended: false, zone: null, kind: 'appear', severity: 'medium', count: 1 },
      ...{ first_at: at('08:00'), last_at: at('08:00') },
      changes: [
        {
          ...{ id: came.id, at: at('08:00'), first_seen: at('08:00'), ended_at: null },
          url: `https://sd.example/v1/changes/${came.id}`,
        },
      ],
    });
  });

  it('have a change that came and left on the same day in both, and not among what is still there', async () => {
    const { id } = change(at('08:00'), { status: 'reverted', reverted_at: at('12:30') });
    const brief = await gate();
    expect(brief.came.groups[0]?.changes[0]).toMatchObject({ id, at: at('08:00'), ended_at: at('12:30') });
    expect(brief.left.groups[0]).toMatchObject({ ended: true, changes: [{ id, at: at('12:30') }] });
    expect(brief.still_there.count).toBe(0);
  });

  it('have what came on earlier days as still there, and as left on the day on which it ended', async () => {
    const there = change(at('20:00', '2026-01-02'), { settled_at: at('23:00', '2026-01-02') });
    const left = change(at('20:00', '2026-01-03'), { status: 'reverted', reverted_at: at('07:00') });
    const later = change(at('20:00', '2026-01-04'), { status: 'reverted', reverted_at: at('01:00', '2026-01-06') });
    const back = change(at('21:00', '2026-01-04'), { kind: 'disappear', status: 'reverted', reverted_at: at('06:00') });
    const brief = await gate();
    expect([idsOf(brief.came), idsOf(brief.left)]).toEqual([[back.id], [left.id]]);
    expect(idsOf(brief.still_there)).toEqual([there.id, later.id]);
    expect(brief.came.groups[0]?.ended).toBe(true);
  });

  it('leave out false alarms, and have the sentence that a person gave', async () => {
    const judged = (judgement: 'correct' | 'false_alarm', caption?: string) => ({
      feedback: { judgement, at: at('13:00'), ...(caption === undefined ? {} : { caption }) },
    });
    change(at('08:00'), judged('false_alarm'));
    change(at('08:30'), { kind: 'tamper', ...judged('false_alarm') });
    change(at('09:00'), judged('correct', 'a courier has come'));
    const brief = await gate();
    expect(brief.came.groups.map(({ caption }) => caption)).toEqual(['a courier has come']);
    expect(brief.not_seen.spans).toEqual([]);
  });

  it('group thousands of changes, and are bounded: the severe groups stay', async () => {
    for (let i = 0; i < 3_000; i++) change(new Date(Date.parse(at('00:00')) + i * 1_000).toISOString());
    for (let i = 0; i < 200; i++) change(at('05:00'), { caption: `thing ${i}`, severity: i === 7 ? 'high' : 'low' });
    const { body } = await ask();
    const { came } = (JSON.parse(body) as Brief).cameras[0] as Brief['cameras'][number];
    expect([came.count, came.groups.length, came.left_out]).toEqual([3_200, 50, 151]);
    expect(came.groups[0]).toMatchObject({ count: 3_000, first_at: at('00:00') });
    expect(came.groups[0]?.changes).toHaveLength(20);
    expect(came.groups.map(({ caption }) => caption)).toContain('thing 7');
    expect(body.length).toBeLessThan(200_000);
  });

  it('read fewer changes of each camera if several are asked for', async () => {
    await gate('?camera=gate');
    await gate('');
    expect(fake.days.asked.map(({ limit }) => limit)).toEqual([2_000, 500]);
  });

  it('are empty on a day without changes, and say if there were more than are read', async () => {
    const brief = await gate();
    expect([brief.came, brief.still_there]).toEqual(Array(2).fill({ count: 0, groups: [], left_out: 0 }));
    fake.days.truncated = true;
    expect((await gate()).truncated).toBe(true);
  });
});

describe('the unseen part of a day', () => {
  const seen = async (query?: string) => (await gate(query)).not_seen;

  it('is gaps, one repeated picture, and a camera that was interfered with; overlaps count once', async () => {
    const span = (reason: 'gap' | 'frozen', from: string, until: string) =>
      fake.days.spans.push({ reason, from: Date.parse(from), until: Date.parse(until) });
    span('gap', at('02:00'), at('03:00'));
    span('frozen', at('02:30'), at('04:00'));
    span('gap', at('23:30', '2026-01-04'), at('00:15'));
    const dark = { kind: 'tamper', caption: 'the picture of the camera is black' } as const;
    const { id } = change(at('20:00'), { ...dark, status: 'reverted', reverted_at: at('21:00') });
    const { seconds, spans } = await seen();
    expect(seconds).toBe((2 + 0.25 + 1) * 3600);
    expect(spans.map(({ reason, from, until, change: of }) => [reason, from, until, of])).toEqual([
      ['gap', at('00:00'), at('00:15'), null],
      ['gap', at('02:00'), at('03:00'), null],
      ['frozen', at('02:30'), at('04:00'), null],
      ['tamper', at('20:00'), at('21:00'), id],
    ]);
    expect(spans[3]?.detail).toBe('the picture of the camera is black');
  });

  it('goes on for a camera that is away, that is stuck, or that is still dark', async () => {
    camera('gate', {}, { last: { at: Date.parse(at('18:00')) } });
    expect(await seen()).toMatchObject({
      seconds: 6 * 3600,
      spans: [{ reason: 'gap', from: at('18:00'), until: null }],
    });
    camera('gate', {}, { still: { since: Date.parse(at('22:00')), frames: 9, stuck: true } });
    expect(await seen()).toMatchObject({ seconds: 2 * 3600, spans: [{ reason: 'frozen', until: null }] });
    camera('gate');
    change(at('23:00'), { kind: 'tamper', caption: 'the camera is blocked' });
    expect(await seen()).toMatchObject({ seconds: 3600, spans: [{ reason: 'tamper', until: null }] });
  });

  it('is what was not recorded, and ends now on a day that goes on', async () => {
    camera('gate', {}, { recordedFrom: Date.parse(at('10:00')) });
    expect(await seen()).toMatchObject({ seconds: 10 * 3600, spans: [{ reason: 'unrecorded', until: at('10:00') }] });
    fake.cameras.states.clear();
    const today = await seen('?day=today');
    expect(today).toMatchObject({ seconds: 9 * 3600, spans: [{ reason: 'unrecorded', until: null }] });
  });

  it('is at most the hundred longest spans', async () => {
    for (let i = 0; i < 150; i++) {
      // the first one has no length
      const from = Date.parse(at('00:00')) + i * 60_000;
      fake.days.spans.push({ reason: 'gap', from, until: from + i * 100 });
    }
    const { spans, left_out } = await seen();
    expect([spans.length, left_out]).toEqual([100, 49]);
    expect(spans[0]?.from).toBe(at('00:50'));
  });
});

describe('the day', () => {
  const berlin = { schedule: { timezone: 'Europe/Berlin', windows: [{ days: ['mon'], from: '00:00', to: '00:00' }] } };

  it.each([
    ['in winter', '2026-01-05', 'Europe/Berlin', '2026-01-04T23:00:00.000Z', 24],
    ['that loses an hour', '2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z', 23],
    ['that gains an hour', '2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00.000Z', 25],
    ['whose midnight is skipped', '2023-04-28', 'Africa/Cairo', '2023-04-27T22:00:00.000Z', 23],
    ['whose last hour is repeated', '2023-10-26', 'Africa/Cairo', '2023-10-25T21:00:00.000Z', 25],
    ['half an hour off', '2026-01-05', 'Asia/Kolkata', '2026-01-04T18:30:00.000Z', 24],
    ['that the zone left out', '2011-12-30', 'Pacific/Apia', '2011-12-30T10:00:00.000Z', 0],
  ])('%s: %s in %s', async (_what, day, tz, from, hours) => {
    setNow(Date.parse('2027-01-01T00:00:00Z'));
    const brief = await gate(`?day=${day}&tz=${tz}`);
    expect(brief).toMatchObject({ day, timezone: tz, from });
    expect(Date.parse(brief.until) - Date.parse(brief.from)).toBe(hours * HOUR);
    expect(fake.days.asked).toMatchObject([
      { camera: 'gate', from: Date.parse(from), until: Date.parse(from) + hours * HOUR },
    ]);
  });

  it("is that of each camera's own time zone, or of tz; today by default", async () => {
    camera('yard', berlin);
    const zones = (briefs: Brief['cameras']) => briefs.map(({ day, timezone }) => [day, timezone]);
    expect(zones(await read(''))).toEqual([
      ['2026-01-06', 'UTC'],
      ['2026-01-06', 'Europe/Berlin'],
    ]);
    expect(zones(await read('?day=yesterday&camera=yard'))).toEqual([['2026-01-05', 'Europe/Berlin']]);
    expect(zones(await read('?day=today&tz=Pacific/Honolulu'))).toEqual(
      Array(2).fill(['2026-01-05', 'Pacific/Honolulu']),
    );
    expect((await gate('?day=today')).over).toBe(false);
  });

  it.each([
    ['?day=2026-02-30', 422, /day is "2026-02-30", expected a day of the calendar/],
    ['?day=2026-01-07', 422, /day is 2026-01-07, which has not begun for gate \(UTC\): expected today/],
    ['?day=2026-01-06&tz=Pacific/Honolulu', 422, /has not begun for gate \(Pacific\/Honolulu\)/],
    ['?day=tomorrow', 400, /day/],
    ['?day=2026-1-5', 400, /day/],
    ['?tz=Mars/Olympus', 422, /tz is "Mars\/Olympus", expected an IANA time zone/],
    ['?tz=%2B02:00', 422, /tz/],
    ['?format=pdf', 400, /format/],
    ['?camera=none', 404, /none/],
    ['?zone=yard', 400, /zone/],
  ])('%s is refused', async (query, status, detail) => {
    const { statusCode, body } = await ask(query);
    expect([statusCode, JSON.parse(body).detail]).toEqual([status, expect.stringMatching(detail)]);
  });

  it('pages through the cameras', async () => {
    for (const id of ['a', 'b', 'c']) camera(id);
    const answer = await ask(`?day=${DAY}&limit=3`);
    expect(JSON.parse(answer.body)).toMatchObject({ next_cursor: 'c', cameras: { length: 3 } });
    expect(answer.headers.link).toBe(`</v1/brief?day=${DAY}&limit=3&cursor=c>; rel="next"`);
    expect((await read(`?day=${DAY}&cursor=c`)).map(({ camera: id }) => id)).toEqual(['gate']);
  });
});
