/** A service with one camera whose brief the tests read. */
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { checkSettings } from '../../src/camera/settings/settings.js';
import type { CameraState } from '../../src/camera/state/state.js';
import type { Brief } from '../../src/schemas/brief.js';
import { storedChange } from '../helpers/changes.js';
import { fakeApp } from '../helpers/fake-app.js';

const NOW = Date.parse('2026-01-06T09:00:00Z');
export const HOUR = 3_600_000;
export const DAY = '2026-01-05';
export const at = (clock: string, day = DAY) => `${day}T${clock}:00.000Z`;
let now = NOW;
/** @param time of the service, epoch ms */
export const setNow = (time: number): void => {
  now = time;
};
export let fake: Awaited<ReturnType<typeof fakeApp>>;

beforeAll(async () => {
  fake = await fakeApp({ publicUrl: 'https://sd.example' }, { clock: () => now });
});
afterAll(() => fake.app.close());
beforeEach(() => {
  now = NOW;
  fake.reset();
  camera('gate');
});

export function camera(id: string, settings: object = {}, state: object = {}): void {
  const times = { created_at: at('00:00'), updated_at: at('00:00') };
  fake.cameras.kept.set(id, { id, settings: checkSettings(settings), reference: null, mask: null, ...times });
  const seen = { last: { at: NOW - 1_000, sha256: '', comparison: '' }, recordedFrom: 0, ...state };
  fake.cameras.states.set(id, seen as unknown as CameraState);
}
type Given = Parameters<typeof storedChange>[0];
let made = 0;
export const change = (first: string, given: Given = {}) => {
  const one = storedChange({ name: String(made++), confirmed: Date.parse(first), first_seen: first, ...given });
  fake.days.changes.push(one);
  return one;
};
export const ask = (query = `?day=${DAY}`, accept?: string) =>
  fake.inject({ url: `/v1/brief${query}`, headers: accept === undefined ? {} : { accept } });
export const read = async (query?: string) => {
  const { statusCode, body } = await ask(query);
  expect([statusCode, body]).toEqual([200, body]);
  return (JSON.parse(body) as Brief).cameras;
};
export const gate = async (query?: string) => (await read(query))[0] as Brief['cameras'][number];
export const idsOf = (list: Brief['cameras'][number]['came']) =>
  list.groups.flatMap(({ changes }) => changes).map(({ id }) => id);
