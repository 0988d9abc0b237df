/** The stored spelling of a camera's state: that of version 0.1.0 is read, and is written again. */
import { readFileSync } from 'node:fs';
import { initialCameraState } from '../../src/camera/fold/state.js';
import { checkpointOf, type StoredCheckpoint, storedCheckpoint } from '../../src/footage/run/checkpoint.js';
import { readCameraState, type StoredState, stateOf, storedState } from '../../src/stores/cameras/camera-state.js';

const fixture = <T>(name: string): T => JSON.parse(readFileSync(`test/fixtures/upgrade/0.1.0/${name}`, 'utf8')) as T;

describe('the state that version 0.1.0 left in Redis', () => {
  const stored = fixture<StoredState>('camera-state.json');

  it('is read under the names of the glossary', () => {
    const state = stateOf(stored, 'gate');
    expect(state).toMatchObject({
      before: null,
      backgrounds: { infrared: { width: 192, height: 128 } },
      budgetThreshold: null,
      tracker: {
        tracks: [{ stage: 'open', lastAlerted: 'medium' }],
        cooldowns: [{ key: 'gate/yard/appear/1' }],
      },
    });
    for (const old of ['v', 'anchor', 'memory', 'dial', 'alerts']) expect(state).not.toHaveProperty(old);
    for (const old of ['v', 'quiet']) expect(state.tracker).not.toHaveProperty(old);
    expect(state.tracker.tracks[0]).not.toHaveProperty('told');
  });

  it('is written as it was read', () => {
    expect(JSON.parse(JSON.stringify(storedState(stateOf(stored, 'gate'))))).toEqual(stored);
  });

  it('keeps a track that has ended, and the alert of a settled change', () => {
    const [track] = stored.alerts.tracks;
    const settled = { change: track?.change, acknowledged: false, told: 'high' };
    const old = {
      ...stored,
      alerts: { ...stored.alerts, tracks: [{ ...track, stage: 'resolved' }], settled: [settled] },
    } as StoredState;
    const state = stateOf(old, 'gate');
    expect(state.tracker).toMatchObject({ tracks: [{ stage: 'ended' }], settled: [{ lastAlerted: 'high' }] });
    expect(JSON.parse(JSON.stringify(storedState(state)))).toEqual(old);
  });
});

it('The checkpoint of a recording of version 0.1.0 is read, and is written as it was read', () => {
  const stored = fixture<StoredCheckpoint>('checkpoint.json');
  const checkpoint = checkpointOf(stored, 'gate');
  expect(checkpoint.state).toMatchObject({ before: { at: 1_780_315_225_000 }, backgrounds: {} });
  expect(checkpoint.state.tracker.settled).toMatchObject([{ lastAlerted: null }]);
  expect(JSON.parse(JSON.stringify(storedCheckpoint(checkpoint)))).toEqual(stored);
});

it('A state that a later version stored is refused with the mend', () => {
  const later = JSON.stringify({ ...storedState(initialCameraState()), v: 2 });
  expect(() => readCameraState(later, 'gate')).toThrow(
    /the state of camera gate has version 2, and this program reads 1: start the version that .* DELETE \/v1\/cameras\/gate/,
  );
});

it.each([null, ''])('%j is no state', (json) => {
  expect(readCameraState(json, 'gate')).toBeUndefined();
});
