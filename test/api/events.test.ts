import type { Readable } from 'node:stream';
import { createEventStreams } from '../../src/api/event-stream.js';
import { newId } from '../../src/base/ids.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import { streamEvent } from '../../src/schemas/stream-event.js';
import { changeEvent, foundChange } from '../helpers/changes.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { fakeApp } from '../helpers/fake-app.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp();
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

interface Seen {
  id: string;
  event: string;
  data: { subject: { kind: string; id: string }; type: string; caption: string | null };
}
/** Parses the text of a stream, without comments and `retry`. */
const parse = (text: string): Seen[] =>
  text
    .split('\n\n')
    .map((block) => Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/).slice(0, 2))))
    .filter((fields) => 'data' in fields)
    .map((fields) => ({ ...fields, data: JSON.parse(fields.data) }));

const create = async (camera: string | null = null) => {
  const stored = acceptedComparison({ camera });
  await fake.results.create(stored);
  return stored.comparison;
};
const update = (comparison: Comparison) => fake.results.update(comparison.id, { comparison });
const watch = (id: string, headers = {}) => fake.inject({ url: `/v1/comparisons/${id}/events`, headers });

describe('GET /v1/comparisons/{id}/events', () => {
  it('sends past events, then new ones, and ends with the final one', async () => {
    const comparison = await create();
    const other = await create();
    const watching = watch(comparison.id);
    while (fake.events.listening === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await update(finished(other));
    await update({ ...comparison, status: 'running' });
    await update(finished(comparison));
    const answer = await watching;
    expect(answer.headers['content-type']).toContain('text/event-stream');
    expect(answer.headers['cache-control']).toBe('no-store');
    const seen = parse(answer.body);
    expect(seen.map(({ event }) => event)).toEqual(['comparison.queued', 'comparison.running', 'comparison.finished']);
    for (const { data, event } of seen)
      expect(data).toMatchObject({ subject: { kind: 'comparison', id: comparison.id }, type: event });
    expect(fake.events.listening).toBe(0);
  });

  it('resumes after Last-Event-ID, without a gap and without a duplicate', async () => {
    const comparison = await create();
    await update({ ...comparison, status: 'running' });
    await update(finished(comparison));
    const all = parse((await watch(comparison.id)).body);
    const rest = parse((await watch(comparison.id, { 'last-event-id': all[0]?.id })).body);
    expect(rest).toEqual(all.slice(1));
  });

  it('answers 204 to a client that has received the final event', async () => {
    const comparison = await create();
    await update(finished(comparison));
    const last = parse((await watch(comparison.id)).body).at(-1);
    expect((await watch(comparison.id, { 'last-event-id': last?.id })).statusCode).toBe(204);
    expect(fake.events.listening).toBe(0);
  });

  it('refuses a Last-Event-ID that is not the id of an event', async () => {
    const { id } = await create();
    expect((await watch(id, { 'last-event-id': 'latest' })).statusCode).toBe(400);
  });
});

describe('GET /v1/events', () => {
  const open = async (query = '', headers = {}) => {
    const answer = await fake.app.inject({ url: `/v1/events${query}`, headers, payloadAsStream: true });
    const stream = answer.stream() as Readable;
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    const until = async (count: number) => {
      while (parse(text).length < count) await new Promise((resolve) => setTimeout(resolve, 5));
      return parse(text);
    };
    return { stream, until };
  };

  it('sends new events of all comparisons, or of one camera', async () => {
    await create('gate');
    const [all, gate] = [await open(), await open('?camera=gate')];
    const [first, second] = [await create('yard'), await create('gate')];
    expect((await all.until(2)).map(({ data }) => data.subject.id)).toEqual([first.id, second.id]);
    expect((await gate.until(1)).map(({ data }) => data.subject.id)).toEqual([second.id]);
  });

  it('sends events of changes too, or of those of one camera; the stream of a comparison does not', async () => {
    const [yard, gate] = [await open('?camera=yard'), await open('?camera=gate')];
    const comparison = await create('gate');
    const change = foundChange({ zone: 'door', severity: 'high' });
    const event = changeEvent(change, 'change.opened', change.confirmed_at);
    fake.events.tell(event);
    await update(finished(comparison));
    const other = await create('yard');
    const [, second] = await gate.until(3);
    expect(second).toMatchObject({ event: 'change.opened', data: event });
    expect((await gate.until(3)).map(({ data }) => data.caption)).toEqual([
      null,
      'a car has appeared',
      'a parcel appeared',
    ]);
    expect((await yard.until(1)).map(({ data }) => data.subject.id)).toEqual([other.id]);
    const ofComparison = parse((await watch(comparison.id)).body);
    expect(ofComparison.map(({ event }) => event)).not.toContain('change.opened');
    expect(ofComparison.at(-1)?.event).toBe('comparison.finished');
  });

  it('sends events that arrive during the replay once and in order', async () => {
    const first = await create();
    const read = fake.events.read.bind(fake.events);
    let second: Comparison | undefined;
    fake.events.read = async (since, filter) => {
      second = await create();
      return read(since, filter);
    };
    const resumed = await open('', { 'last-event-id': '0' });
    fake.events.read = read;
    const third = await create();
    const seen = await resumed.until(3);
    expect(seen.map(({ data }) => data.subject.id)).toEqual([first.id, second?.id, third.id]);
  });

  it('replays a long past completely, and disconnects a client that reads nothing of it', async () => {
    const many = 20_000;
    const camera = 'a-camera-with-a-long-name-so-that-there-is-more-to-be-sent';
    const subject = { kind: 'comparison', id: newId('cmp') } as const;
    const event = streamEvent({ type: 'comparison.queued', camera, at: '2026-01-05T12:00:00.000Z', subject });
    for (let i = 1; i <= many; i++) fake.events.kept.push({ id: `${i}-0`, event });
    const streams = createEventStreams(fake.events);
    const open = () => streams.open({}, { since: '0', endOnFinal: false, isStillAllowed: async () => true });
    const [reading, idle] = [await open(), await open()];
    let more = 0;
    const happens = () => fake.events.tell(event, `${many + ++more}-0`);
    happens();
    let text = '';
    reading.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    while (!text.includes(`id: ${many + 1}-0\n`)) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(parse(text)).toHaveLength(many + 1);
    while (!idle.destroyed && more < many) happens();
    expect([idle.destroyed, more > 1_000, more < many]).toEqual([true, true, true]);
    streams.endAll();
  });

  it('ends every stream when the service closes', async () => {
    const closing = await fakeApp();
    const answer = await closing.app.inject({ url: '/v1/events', payloadAsStream: true });
    const ended = new Promise((resolve) => answer.stream().on('end', resolve).resume());
    await closing.app.close();
    await ended;
  });
});
