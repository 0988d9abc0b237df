/**
 * Dry run of rules: the alerts that a recording would have caused under other zones, thresholds and rules, from the
 * recorded evidence of its frames (`FrameStats`), without decoding the recording again. Pure.
 */
import type { CameraSettings } from '../../camera/settings/settings.js';
import type { FrameStats } from '../records.js';
import { CameraReplay, type DryRun, type ReplayedBundle } from './camera-replay.js';

export interface DryRunOptions {
  /** @throws ScenedeltaError if the camera has no settings */
  readonly settingsOf: (camera: string) => CameraSettings;
  /** by its name; null: the default one */
  readonly bundleOf: (model: string | null) => ReplayedBundle;
}

/**
 * @param stats in the order of time per camera; several cameras may alternate
 * @returns one result per camera, in the order of their first frames
 * @throws ScenedeltaError 'invalid-value' if the settings choose another mode of "before" than the recorded run had
 */
export async function dryRun(
  stats: Iterable<FrameStats> | AsyncIterable<FrameStats>,
  { settingsOf, bundleOf }: DryRunOptions,
): Promise<DryRun[]> {
  const replays = new Map<string, CameraReplay>();
  for await (const frame of stats) {
    let replay = replays.get(frame.camera);
    if (replay === undefined) {
      const settings = settingsOf(frame.camera);
      replay = new CameraReplay(frame.camera, settings, bundleOf(settings.model));
      replays.set(frame.camera, replay);
    }
    replay.take(frame);
  }
  return [...replays.values()].map((replay) => replay.finish());
}
