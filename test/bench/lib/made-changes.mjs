/** Made changes of 100 cameras in 30 days with search vectors, queries that find them, and a worker without a model. */
import { dist } from './service.mjs';

const { changeWrites } = await dist('stores/changes/change-writes.js');
const { derivedId } = await dist('base/ids.js');
const { uniformNumbers } = await dist('base/random.js');
const { QUESTION_QUEUE } = await dist('jobs/queues.js');
const { createJobGuard } = await dist('jobs/job-guard.js');
const { createRunStore } = await dist('stores/redis/runs.js');
const { createQuestionProcessor } = await dist('workers/question-job.js');
const { questionQueue } = await dist('workers/question-job.js');
const { serveTable } = await dist('jobs/run-jobs.js');

const next = uniformNumbers(5);
const pick = (values) => values[Math.floor(next() * values.length)];
const NOUNS = [
  ...['person', 'man', 'woman', 'car', 'truck', 'van', 'bus', 'bicycle', 'dog', 'box', 'suitcase', 'chair'],
];
const COLOURS = [...['red', 'blue', 'dark blue', 'white', 'black', 'grey', 'silver', 'green', 'yellow', 'brown']];
const PLACES = [
  'on the left',
  'on the right',
  'in the middle',
  'by the fence',
  'in the parking lot',
  'in Loading bay 2',
];
const VERBS = { appear: 'has appeared', disappear: 'has left', move: 'has moved to the left' };
export const QUERIES = [
  ...['a red car has left', 'white van', 'person by the fence', 'lorry', 'vehicles on the left', 'a dog', 'camera 17'],
  ...['suitcase left behind', 'red', 'someone arrived', 'blue bicycle in loading bay 2', 'departures', 'yelow truk'],
  ...['a person in black has disappeared in the middle', 'parcel', 'bus', 'green chair', 'nothing like this xyzzy'],
  ...['the car has moved to the right', 'a woman with a suitcase'],
];
const CAMERAS = 100;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Share of the changes that have ended. */
const ENDED = 0.8;
const BEGIN = Date.UTC(2026, 0, 1);
const SPAN_MS = 30 * DAY_MS;

/** A description of the changes, for readers of figures. */
export const MADE =
  `Made changes of ${CAMERAS} cameras in 30 days, of ${Object.keys(VERBS).length} kinds, ${NOUNS.length} nouns, ` +
  `${COLOURS.length} colours and ${PLACES.length} places`;

/** @param {number} number of the change, part of its id */
export function madeChange(number) {
  const kind = pick(Object.keys(VERBS));
  const confirmed = BEGIN + Math.floor(next() * SPAN_MS);
  const at = new Date(confirmed).toISOString();
  const ended = next() < ENDED ? new Date(confirmed + HOUR_MS).toISOString() : null;
  const comparison = derivedId('cmp', confirmed, `${number}`);
  const box = { x: 0.1, y: 0.2, width: 0.3, height: 0.4 };
  return {
    ...{ id: derivedId('chg', confirmed, `${number}`), camera: `camera-${1 + Math.floor(next() * CAMERAS)}` },
    ...{ zone: next() < 0.5 ? null : pick(['gate', 'dock', 'yard']), kind },
    caption: `a ${pick(COLOURS)} ${pick(NOUNS)} ${VERBS[kind]} ${pick(PLACES)}`,
    ...{ confidence: 0.9, status: ended === null ? 'opened' : 'reverted', severity: pick(['low', 'medium', 'high']) },
    ...{ first_seen: at, confirmed_at: at, last_seen: at, settled_at: null, reverted_at: ended, alerted_at: null },
    ...{ suppressed_count: 0, regions: [{ side: 'after', box, area: 0.1, score: 0.9, zone: null }] },
    comparisons: { first: comparison, best: comparison, last: comparison },
  };
}

export const DIMENSIONS = 128;
const BUNDLE = 'b'.repeat(64);
/** Least cosine of an answer. */
export const LEAST = 0.6;
/** Vectors lie around one direction per noun, so that a query is near a twelfth of the changes. */
const directions = NOUNS.map(() => Float32Array.from({ length: DIMENSIONS }, () => next() - 0.5));
const NOISE = 0.8;
export function madeVector() {
  const direction = pick(directions);
  const values = direction.map((value) => value + NOISE * (next() - 0.5));
  const length = Math.hypot(...values);
  return { bundle: BUNDLE, values: values.map((value) => value / length) };
}

/** @returns the Redis commands by which the commit of a camera's turn saves a new change and its vector, if any */
export function writesOf(change, vector) {
  const vectors = vector === undefined ? [] : [{ change: change.id, vector }];
  const turn = { camera: change.camera, changes: [{ change, event: 'change.opened' }], alerts: [], eventsApplied: 0 };
  return changeWrites({ ...turn, vectors }, Date.now(), SPAN_MS);
}

/** In place of a worker: the way of a question, without the model. @returns the worker, to be closed */
export const answerQuestions = (redis, logger) =>
  serveTable(
    {
      [QUESTION_QUEUE]: questionQueue(
        createQuestionProcessor({
          pipeline: {
            embedTexts: async () => ({ bundle: BUNDLE, least: LEAST, vectors: [madeVector().values] }),
          },
          publish: (channel, message) => redis.publish(channel, message),
          logger,
        }),
        logger,
      ),
    },
    {
      redis,
      logger,
      config: { jobLockMs: 30_000 },
      guard: createJobGuard({ redis, blobs: {}, runs: createRunStore(redis, 'bench'), logger }),
    },
  );
