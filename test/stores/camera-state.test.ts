/** The stored form of a camera's state. */
import { initialCameraState } from '../../src/camera/state/state.js';
import { readCameraState, writeCameraState } from '../../src/stores/cameras/camera-state.js';

it('A state is read as it was written', () => {
  const state = initialCameraState();
  expect(readCameraState(writeCameraState(state), 'gate')).toEqual(state);
});

it.each([1, 3])('A state of version %j is refused with the mend', (v) => {
  const other = JSON.stringify({ ...initialCameraState(), v });
  expect(() => readCameraState(other, 'gate')).toThrow(
    `the state of camera gate has version ${v}, and this program reads 2: start the version that stored it, or erase ` +
      'the state with DELETE /v1/cameras/gate',
  );
});

it.each([null, ''])('%j is no state', (json) => {
  expect(readCameraState(json, 'gate')).toBeUndefined();
});
