import { parse } from 'csv-parse/sync';
import { Value } from 'typebox/value';
import { WebVTTParser } from 'webvtt-parser';
import { changesCsv } from '../../src/footage/outputs/csv.js';
import { changesJson, ndjson } from '../../src/footage/outputs/json.js';
import { compareRecords } from '../../src/footage/outputs/recording.js';
import { captionsVtt } from '../../src/footage/outputs/vtt.js';
import { type FootageChange, FootageChangeSchema, FootageSummarySchema } from '../../src/footage/records.js';
import { change, moment, recording } from './records.js';

const HOSTILE = 'a "red", <b>car</b> & --> \r\n\r\n00:00.000 --> 99:00.000\u2028has appeared';
const textOf = (parts: Iterable<string>) => [...parts].join('');
const cuesOf = (vtt: string) => {
  const { cues, errors } = new WebVTTParser().parse(vtt, 'captions/subtitles/descriptions');
  expect(errors).toEqual([]);
  return cues;
};

describe('changes as NDJSON and JSON', () => {
  it('has one record per line, which satisfies the schema, with rounded figures', async () => {
    const records = [change(1, { confidence: 0.123456 }), change(2, { caption: HOSTILE })];
    let text = '';
    for await (const part of ndjson(records)) text += part;
    const lines = text.split('\n');
    expect(lines).toHaveLength(3);
    const read = lines.slice(0, 2).map((line) => JSON.parse(line) as FootageChange);
    for (const record of read) expect(Value.Errors(FootageChangeSchema, record)).toEqual([]);
    expect(read[0]?.confidence).toBe(0.123);
    expect(read[1]?.caption).toBe(HOSTILE);
  });

  it.each([0, 3])('is one document with its version, its summary and %i changes', (count) => {
    const made = recording(Array.from({ length: count }, (_, i) => change(i)));
    const read = JSON.parse(textOf(changesJson(made)));
    expect(Value.Errors(FootageSummarySchema, made.summary)).toEqual([]);
    expect(read).toEqual({ v: 1, ...made });
  });
});

describe('changes as CSV', () => {
  it('has a header and a line per change, ended by CRLF, that a strict parser reads back', () => {
    const text = textOf(changesCsv([change(1, { caption: HOSTILE, reverted: moment(42) }), change(2)]));
    expect(text.endsWith('\r\n')).toBe(true);
    const rows: Record<string, string>[] = parse(text, { columns: true, record_delimiter: '\r\n' });
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({
      caption: HOSTILE,
      confidence: '0.97',
      first_seen_at: '2026-06-01T12:00:10.000Z',
      first_seen_file: 'yard/12.mp4',
      first_seen_seconds: '10',
      reverted_seconds: '42',
      x: '0.6',
    });
    expect(rows[1]).toMatchObject({ reverted_at: '', reverted_seconds: '', zone: '' });
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'])('a cell of %j is text for a spreadsheet', (cell) => {
    const text = textOf(changesCsv([change(1, { caption: cell, zone: cell })]));
    const [row]: Record<string, string>[] = parse(text, { columns: true, record_delimiter: '\r\n' });
    expect(row).toMatchObject({ caption: `'${cell}`, zone: `'${cell}` });
  });

  it('has the header alone without changes', () => {
    expect(textOf(changesCsv([])).split('\r\n')).toHaveLength(2);
  });
});

describe('changes as WebVTT', () => {
  it('has a cue per change of the video, in the order of time, shown from 5 to 30 seconds', () => {
    const changes = [
      change(3, { first_seen: moment(3599.9995), last_seen: moment(3600) }),
      change(1, { first_seen: moment(7200.25, 'yard/13.mp4') }),
      change(2, { first_seen: moment(1.5), last_seen: moment(900) }),
      change(4, { first_seen: moment(20), last_seen: moment(28) }),
    ];
    const cues = cuesOf(textOf(captionsVtt('yard/12.mp4', changes, [])));
    expect(cues.map(({ startTime, endTime }) => [startTime, endTime])).toEqual([
      [1.5, 31.5],
      [20, 28],
      [3600, 3605],
    ]);
  });

  it('survives captions with markup, arrows and line breaks, and writes hours beyond 99', () => {
    const far = change(1, { caption: HOSTILE, first_seen: moment(400_000, HOSTILE) });
    const vtt = textOf(captionsVtt(HOSTILE, [far], []));
    const [cue, ...others] = cuesOf(vtt);
    expect(others).toEqual([]);
    expect(cue?.startTime).toBe(400_000);
    expect(cue?.text).toBe('a "red", &lt;b&gt;car&lt;/b&gt; &amp; --&gt;  00:00.000 --&gt; 99:00.000 has appeared');
  });

  it('is a valid file without changes', () => {
    expect(cuesOf(textOf(captionsVtt('yard/12.mp4', [], [])))).toEqual([]);
  });
});

it('orders changes by camera, then by time', () => {
  const [late, early, other] = [change(9), change(1), change(0, { camera: 'zoo' })];
  expect([other, late, early].sort(compareRecords)).toEqual([early, late, other]);
});
