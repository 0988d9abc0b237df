/**
 * `npm run bench -- yard [--minutes=27] [--every=10] [--list] [--write]`: the messages that the operator of eight
 * cameras over a busy yard gets. The frames of test/fixtures/replay run forwards and backwards, so that no person
 * vanishes at an end, each camera elsewhere in them, one frame every --every seconds. Time is that of the frames. The
 * bench ends with status 1 if a receiver gets more messages than its preset and limit allow, or if the digests count
 * other messages than were held back. --list: each message as well.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProgress } from '../../dist/cli/progress.js';
import { readOptions, wholeNumber } from '../../scripts/lib/options.mjs';
import { ROOT, runMain } from '../../scripts/lib/shell.mjs';
import { openDay } from './lib/operator.mjs';
import { report } from './lib/report.mjs';
import { startService } from './lib/service.mjs';

const FIXTURE = join(ROOT, 'test/fixtures/replay');
/** In the past, so that nothing lies in the future of the clocks that are not moved. */
const START = Date.now() - 2 * 3_600_000;
const CAMERAS = 8;
const MINUTE = 60_000;
const LIMIT = { messages: 1, minutes: 5 };
/** Most messages in all with `things_left_or_taken`: the people of the yard leave nothing there. */
const MOST = 2;
/** Receivers, by their names, and the preset of their cameras. */
const RECEIVERS = {
  everything: { preset: 'everything', settings: {} },
  people: { preset: 'people', settings: {} },
  limited: { preset: 'people', settings: { limit: LIMIT } },
  things: { preset: 'things_left_or_taken', settings: {} },
};
const PRESETS = [...new Set(Object.values(RECEIVERS).map(({ preset }) => preset))];

/** Position in `count` frames that run forwards and backwards. */
function positionAt(second, count) {
  const within = second % (2 * (count - 1));
  return within < count ? within : 2 * (count - 1) - within;
}

/** Times at which people come into view, per camera, in s: of the list in visits.json. */
function arrivals(people, count, seconds, shift) {
  const times = [];
  for (const { begin, end } of people) {
    let inView = false;
    for (let s = 0; s < seconds; s++) {
      const position = positionAt(s + shift, count);
      const sees = position >= begin && position <= end;
      if (sees && !inView) times.push(s);
      inView = sees;
    }
  }
  return times;
}

async function main() {
  const { values } = readOptions({
    ...{ minutes: { type: 'string', default: '27' }, every: { type: 'string', default: '10' } },
    list: { type: 'boolean' },
    write: { type: 'boolean' },
  });
  const [minutes, every] = ['minutes', 'every'].map((name) => wholeNumber(name, values[name]));
  const frames = readdirSync(join(FIXTURE, 'frames'))
    .sort()
    .map((name) => readFileSync(join(FIXTURE, 'frames', name)));
  const people = JSON.parse(readFileSync(join(FIXTURE, 'visits.json'), 'utf8'));
  const seconds = minutes * 60;
  const shiftOf = (camera) => camera * Math.round((2 * (frames.length - 1)) / CAMERAS);
  const service = await startService({ worker: false });
  const day = await openDay(service, START);
  const cameras = Array.from({ length: CAMERAS }, (_, i) => i);
  const messages = [];
  const note = async () => {
    for (const one of await day.received()) {
      const { camera } = one.data.change ?? one.data.visit ?? one.data.digest ?? one.data.signal;
      messages.push({ ...one, camera });
    }
  };
  try {
    for (const [name, { preset, settings }] of Object.entries(RECEIVERS)) {
      await day.addEndpoint(name, { ...settings, cameras: [`${preset}-*`] });
    }
    for (const preset of PRESETS) for (const i of cameras) await day.addCamera(`${preset}-${i}`, { preset });
    const progress = startProgress(Math.ceil(seconds / every), 'rounds');
    for (let second = 0; second < seconds; second += every) {
      day.moveTo(START + 1000 * second);
      const send = async (camera) => {
        const frame = frames[positionAt(second + shiftOf(camera), frames.length)];
        for (const preset of PRESETS) await day.frame(`${preset}-${camera}`, frame);
      };
      await Promise.all(cameras.map(send));
      await note();
      progress.step();
    }
    day.moveTo(START + 1000 * seconds + LIMIT.minutes * MINUTE);
    await note();
    progress.end();
    const changes = (await Promise.all(cameras.map((i) => day.changesOf(`people-${i}`)))).flat();
    const appeared = changes.filter(({ severity }) => severity === 'medium');
    const suppressed = appeared.filter(({ alerted_at }) => alerted_at === null);
    const of = (name) => messages.filter(({ to }) => to === name);
    const came = cameras.map((i) => arrivals(people, frames.length, seconds, shiftOf(i)).length);
    report(
      'yard',
      `Yard: ${CAMERAS} cameras over a busy yard for ${minutes} minutes, a frame every ${every} s`,
      [
        [
          'preset',
          'limit',
          'messages',
          'of them',
          'most per camera and 5 min: beginnings, all',
          'digests',
          'things in digests',
        ],
        ...Object.keys(RECEIVERS).map((name) => rowOf(RECEIVERS[name], of(name))),
      ],
      [
        `People come into view ${sum(came)} times (${Math.min(...came)} to ${Math.max(...came)} per camera), by a person's list.`,
        'Most per camera and 5 min: messages about a beginning, and with those about an end; without digests.',
        `With the preset people ${appeared.length} changes were of a person who appeared, and ${suppressed.length} of them in a cool-down, which the next message of the place counts.`,
        `${day.pipeline.compared()} comparisons.`,
      ],
    );
    for (const fault of faultsOf(of)) {
      console.error(fault);
      process.exitCode = 1;
    }
    if (values.list) list(messages);
  } finally {
    await day.close();
    await service.stop();
  }
}

const isDigest = ({ type }) => type === 'alerts.digest';
const isEnd = ({ type }) => type === 'change.reverted';
const begins = (messages) => messages.filter((one) => !isDigest(one) && !isEnd(one));
const timeOf = ({ timestamp }) => Date.parse(timestamp);

/** Most messages about one camera in the time of the limit. */
function densest(messages) {
  const times = messages.map((one) => [one.camera, timeOf(one)]);
  const within = ([camera, from]) =>
    times.filter(([other, at]) => other === camera && at >= from && at < from + LIMIT.minutes * MINUTE).length;
  return Math.max(0, ...times.map(within));
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

function countsOf(entries) {
  const counts = new Map();
  for (const [name, count] of entries) counts.set(name, (counts.get(name) ?? 0) + count);
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ') || '-';
}

function rowOf({ preset, settings: { limit } }, messages) {
  const digests = messages.filter(isDigest).map(({ data }) => data.digest);
  const held = sum(digests.map((one) => one.messages));
  const things = digests.flatMap(({ content }) => content.counts);
  return [
    preset,
    limit === undefined ? 'none' : `${limit.messages} per ${limit.minutes} min`,
    String(messages.length),
    countsOf(messages.map(({ type }) => [type, 1])),
    `${densest(begins(messages))}, ${densest(messages.filter((one) => !isDigest(one)))}`,
    digests.length === 0 ? '-' : `${digests.length}, of ${held} messages`,
    countsOf(things.map(({ noun, count }) => [noun ?? 'something', count])),
  ];
}

function faultsOf(of) {
  const [things, people, limited] = ['things', 'people', 'limited'].map(of);
  const held = sum(limited.filter(isDigest).map(({ data }) => data.digest.messages));
  const messages = begins(limited).length + held;
  return [
    [things.length > MOST, `${things.length} messages about things, expected at most ${MOST}`],
    [densest(limited.filter((one) => !isDigest(one))) > LIMIT.messages, 'more messages than the limit allows'],
    [messages !== begins(people).length, `${messages} messages sent and counted, expected ${begins(people).length}`],
  ].flatMap(([failed, text]) => (failed ? [text] : []));
}

function list(messages) {
  for (const { to, camera, type, timestamp, data } of messages) {
    const { caption, kind = '', severity = '' } = data.change ?? data.visit ?? data.digest;
    console.log(to, camera, timestamp, type, kind, severity, caption);
  }
}

await runMain(main);
