/** Dry run of a camera's settings over its kept comparisons. */
import type { CameraFrame } from '../../src/schemas/camera-frame.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { fakeApp } from '../helpers/fake-app.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp();
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

const NOON = Date.now() - 3_600_000;
const MINUTE_MS = 60_000;
const at = (minute: number) => new Date(NOON + minute * MINUTE_MS).toISOString();
const REGION = { id: 1, side: 'after', area: 0.03, score: 0.9, box: { x: 0.1, y: 0.1, width: 0.2, height: 0.2 } };
const AROUND = [
  [0, 0],
  [0.5, 0],
  [0.5, 0.5],
  [0, 0.5],
];
const CAR: Partial<Comparison> = {
  ...{ verdict: 'change', kind: 'appear', caption: 'a car has appeared', confidence: 0.8, severity: 'medium' },
  regions: [REGION as never],
};
const EMPTY: Partial<Comparison> = { verdict: 'none', kind: 'none', caption: 'nothing has changed', confidence: 0.1 };

/** One frame per minute. */
async function addFrames(findings: readonly Partial<Comparison>[], frame: Partial<CameraFrame> = {}) {
  for (const [minute, finding] of findings.entries()) {
    const stored = acceptedComparison({ camera: 'gate', createdAt: NOON + minute * MINUTE_MS });
    const camera_frame: CameraFrame = {
      captured_at: at(minute),
      before: { mode: 'memory', captured_at: at(0) },
      notes: [],
      ...frame,
    };
    await fake.results.create(stored);
    const given = { words: [], nuisance: [], regions: [], ...finding, camera_frame };
    await fake.results.update(stored.comparison.id, { comparison: finished(stored.comparison, given) });
  }
}
const put = (settings: object = {}) =>
  fake.inject({ method: 'PUT', url: '/v1/cameras/gate', payload: { before: 'memory', ...settings } });
const dryRun = async (settings: object = {}) => {
  const payload = { before: 'memory', ...settings };
  return (await fake.inject({ method: 'POST', url: '/v1/cameras/gate/dry-run', payload })).json();
};

it('reports the alerts with their times, and stores nothing', async () => {
  await put();
  await addFrames([EMPTY, CAR, CAR, CAR, EMPTY, EMPTY]);
  const answer = await dryRun();
  expect(answer).toMatchObject({ camera: 'gate', from: at(0), to: at(5), frames: 6, alert_count: 2, changes: 1 });
  expect(answer.alerts).toMatchObject([
    { type: 'change.opened', at: at(2), caption: 'A car has appeared.', severity: 'medium', zone: null },
    { type: 'change.reverted', at: at(5), caption: 'The car has gone, after 3 minutes.' },
  ]);
  // Two alerts in five minutes.
  expect(answer.alerts_per_day).toBe(576);
  expect(answer.alerts[0].comparison).toMatch(/^cmp_/);
  expect(fake.cameras.kept.get('gate')?.settings.alerts.confirm_frames).toBe(2);
  expect(fake.changes.kept).toEqual([]);
});

it.each([
  ['more frames in a row', { alerts: { confirm_frames: 4 } }, 0],
  ['a higher threshold', { threshold: 0.9 }, 0],
  ['another least severity', { alerts: { min_severity: 'high' } }, 0],
  [
    'a rule of severity',
    { alerts: { min_severity: 'high', severity_rules: [{ kind: 'appear', severity: 'high' }] } },
    2,
  ],
  ['a zone that is ignored', { zones: [{ id: 'a', type: 'ignore', polygon: AROUND }] }, 0],
  [
    'a zone elsewhere',
    { zones: [{ id: 'a', type: 'include', polygon: AROUND.map(([x, y]) => [1 - (x ?? 0), 1 - (y ?? 0)]) }] },
    0,
  ],
  ['a pause', { suspend_until: at(60) }, 0],
])('follows %s', async (_name, settings, alerts) => {
  await put();
  await addFrames([EMPTY, CAR, CAR, CAR, EMPTY, EMPTY]);
  expect(await dryRun(settings)).toMatchObject({ alert_count: alerts, frames: 6 });
});

const FACT = {
  ...{ kind: { value: 'appear', probability: 0.9 }, noun: { value: 'car', probability: 0.9 }, regions: [1] },
  ...{ nouns: [{ value: 'car', probability: 0.9 }], class: { value: 'vehicle', probability: 0.9 }, colours: [] },
  ...{ colour: null, count: { value: 1, probability: 0.9 }, place: null, way: null },
};
it.each([
  ['a vehicle has appeared at the dock', 1],
  ['a person has appeared at the dock', 0],
  ['a vehicle has appeared in the yard', 0],
])('judges a sentence that no rule had so far by the kept facts: %s', async (when, alerts) => {
  await put();
  const named = { ...CAR, facts: [FACT as never] };
  await addFrames([EMPTY, named, named, CAR]);
  const zones = ['dock', 'yard'].map((name, i) => {
    return { id: name, name, type: 'include', polygon: AROUND.map(([x, y]) => [(x ?? 0) + i / 2, y]) };
  });
  const severity_rules = [{ when, severity: 'high' }, { severity: 'info' }];
  const answer = await dryRun({ zones, alerts: { severity_rules } });
  expect(answer).toMatchObject({ alert_count: alerts, changes: 1 });
  expect(answer.limits).toContainEqual(
    'In 1 of 4 frames the model named nothing in a change, so no sentence of a rule holds there.',
  );
});

it('refuses a sentence that it cannot read, and names the rule', async () => {
  await put();
  const severity_rules = [{ when: 'a gizmo has appeared', severity: 'high' }];
  expect(await dryRun({ alerts: { severity_rules } })).toMatchObject({
    status: 422,
    field: 'alerts/severity_rules/0/when',
    detail: expect.stringContaining('has the word "gizmo", which is not known; expected one such as'),
  });
});

it('gives regions the zones of these settings, whatever the zone of that time was', async () => {
  await put();
  const inYard = { ...CAR, regions: [{ ...REGION, zone: 'yard' } as never] };
  await addFrames([inYard, inYard]);
  expect((await dryRun()).alerts).toMatchObject([{ zone: null }]);
  const zones = [{ id: 'dock', type: 'include', polygon: AROUND, severity: 'high' }];
  expect((await dryRun({ zones })).alerts).toMatchObject([{ zone: 'dock', severity: 'high' }]);
});

it('says what it cannot know', async () => {
  await put();
  expect((await dryRun()).limits).toContainEqual('No compared frame of this time is kept.');
  await addFrames([{ ...EMPTY, confidence: 0.7 }, CAR], {
    notes: [{ code: 'regions_left_out', detail: '1 region is left out' }],
  });
  const zones = [{ id: 'a', type: 'privacy', polygon: AROUND }];
  const { limits } = await dryRun({ threshold: 0.6, zones });
  expect(limits.map((limit: string) => limit.slice(0, 30))).toEqual([
    'In 2 of 2 frames the settings ',
    '1 of 2 frames reach this thres',
    'Other privacy zones alter fram',
    'The background model is the on',
  ]);
});

it('leaves frames out that were compared with something else, and says so', async () => {
  await put({ before: 'previous' });
  await addFrames([CAR, CAR]);
  await addFrames([EMPTY], { before: { mode: 'previous', captured_at: at(0) }, captured_at: at(9) });
  const answer = await dryRun({ before: 'previous' });
  expect(answer).toMatchObject({ alert_count: 0 });
  expect(answer.frames).toBeLessThan(3);
});

it('refuses another "before", unknown cameras and settings that PUT would refuse', async () => {
  expect(await dryRun()).toMatchObject({ status: 404 });
  await put();
  expect(await dryRun({ before: 'previous' })).toMatchObject({ status: 422, field: 'before' });
  expect(await dryRun({ alerts: { confirm_frames: 0 } })).toMatchObject({ status: 400 });
  const url = '/v1/cameras/gate/dry-run';
  expect((await fake.inject({ method: 'POST', url, payload: [] })).statusCode).toBe(400);
});
