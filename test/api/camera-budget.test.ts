/** The false-alarm budget in the answers of PUT and GET /v1/cameras/:id. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { initialCameraState } from '../../src/camera/state/state.js';
import { cameraApi } from '../helpers/camera-api.js';
import { fakeApp, MODEL, workerWith } from '../helpers/fake-app.js';

let service: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  service = await fakeApp();
});
beforeEach(() => service.reset());
afterAll(() => service.app.close());
const { get, put } = cameraApi(() => service);

describe('a false-alarm budget', () => {
  const operating_points = [
    { false_alarm_rate: 0.001, threshold: 0.93 },
    { false_alarm_rate: 0.1, threshold: 0.1 },
  ];
  const read = async (id: string) => (await get(`/v1/cameras/${id}`)).json().false_alarm_budget;
  const serve = (...models: Parameters<typeof workerWith>) => {
    service.workers.live = [workerWith(...models)];
  };

  it('that cannot be met is reported when it is set and when it is read', async () => {
    serve({ ...MODEL, operating_points });
    const settings = { false_alarms_per_day: 2, snapshot: { url: 'https://cam.example/a.jpg', interval_s: 5 } };
    const { false_alarm_budget } = (await put('gate', settings)).json();
    expect(false_alarm_budget).toMatchObject({ threshold: 0.93, met: false });
    expect(false_alarm_budget.false_alarms_per_day).toBeCloseTo(17.28, 6);
    expect(false_alarm_budget.detail).toContain('no stricter threshold was measured');
    expect(await read('gate')).toEqual(false_alarm_budget);
  });

  it('follows the measured rate of the frames, and the model of the camera', async () => {
    serve({ ...MODEL, operating_points }, { ...MODEL, name: 'other', default: false, operating_points: [] });
    expect((await put('gate', { false_alarms_per_day: 2 })).json().false_alarm_budget).toMatchObject({ met: null });
    service.cameras.states.set('gate', { ...initialCameraState(), intervalMs: 60_000 });
    expect(await read('gate')).toMatchObject({ met: true });
    expect((await put('gate', { false_alarms_per_day: 0.01 })).json().false_alarm_budget).toMatchObject({ met: false });
    const other = (await put('gate', { false_alarms_per_day: 2, model: 'other' })).json().false_alarm_budget;
    expect(other).toMatchObject({ threshold: null, met: false });
  });

  it('of new settings is in the status before the next frame', async () => {
    serve({ ...MODEL, operating_points });
    await put('gate', { false_alarms_per_day: 100 });
    const kept = { threshold: 0.5, false_alarms_per_day: 100 };
    service.cameras.states.set('gate', { ...initialCameraState(), intervalMs: 5_000, budgetThreshold: kept });
    await put('gate', { false_alarms_per_day: 2 });
    const { status, false_alarm_budget } = (await get('/v1/cameras/gate')).json();
    expect(false_alarm_budget.threshold).toBe(0.93);
    expect([status.threshold, status.false_alarms_per_day]).toEqual([0.93, false_alarm_budget.false_alarms_per_day]);
    await put('gate', {});
    const without = (await get('/v1/cameras/gate')).json().status;
    expect([without.threshold, without.false_alarms_per_day]).toEqual([null, null]);
  });

  it("follows the camera's own frames", async () => {
    serve({ ...MODEL, operating_points });
    await put('gate', { false_alarms_per_day: 2 });
    const state = { ...initialCameraState(), intervalMs: 5_000 };
    service.cameras.states.set('gate', state);
    expect(await read('gate')).toMatchObject({ met: false, rate_ratio: 1, frames: 0 });
    const counts = { low: 0.1, high: 0.93, frames: 30_000, risen: 10, above: false };
    service.cameras.states.set('gate', { ...state, counts });
    expect(await read('gate')).toMatchObject({ met: true, rate_ratio: expect.any(Number), frames: 30_000 });
  });

  it('is unknown without a worker, or with a bundle without operating points, and absent if it is not set', async () => {
    expect((await put('gate', { false_alarms_per_day: 2 })).json().false_alarm_budget).toMatchObject({ met: null });
    serve(MODEL);
    expect(await read('gate')).toMatchObject({ threshold: null, met: null });
    expect((await put('gate', {})).json()).not.toHaveProperty('false_alarm_budget');
  });
});
