/** Sets up a camera in a service, unless the service has it. The clients that find cameras share it. */
import type { Command } from 'commander';
import { Failure, usage } from './failure.js';
import { ok, type Service } from './service.js';

/** Ids of cameras, as openapi.yaml describes them. */
const CAMERA_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** @returns an id made of a name; null if none can be made */
export function cameraIdOf(name: string): string | null {
  const id = name.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 64);
  return CAMERA_ID.test(id) ? id : null;
}

/** Presets of alerts, as openapi.yaml describes them. */
const PRESETS = ['people', 'people_at_night', 'things_left_or_taken', 'vehicles', 'everything', 'nothing'] as const;
const isPreset = (name: string): name is (typeof PRESETS)[number] => PRESETS.some((one) => one === name);

export interface SetUpOptions {
  readonly every: string;
  readonly label?: string;
  readonly preset?: string;
}

/** @returns the command with SetUpOptions */
export const withSetUp = (command: Command): Command =>
  command
    .option('--every <seconds>', 'seconds between two pictures', '10')
    .option('--label <label>', 'label of the cameras')
    .option('--preset <preset>', `what is alerted: ${PRESETS.join(', ')}; default: everything`);

export interface NewCamera {
  readonly id: string;
  readonly name: string;
  /** of its pictures */
  readonly url: string;
  readonly login: { readonly username?: string; readonly password?: string };
}
/** Outcome of one camera; `reason`: the service refused it. */
export type SetUp = 'set up' | 'is there already' | { readonly reason: string };

/** @returns sets up one camera. @throws Failure 'usage' if an option cannot be used */
export function createSetUp(
  { every, label, preset = 'everything' }: SetUpOptions,
  { api }: Service,
): (camera: NewCamera) => Promise<SetUp> {
  const seconds = Number(every);
  if (!Number.isInteger(seconds) || seconds < 1) throw usage(`--every ${every}: expected whole seconds`);
  if (!isPreset(preset)) throw usage(`--preset ${preset}: expected one of ${PRESETS.join(', ')}`);
  const labels = label === undefined ? [] : [label];

  return async ({ id, name, url, login }) => {
    const params = { path: { id } };
    const existing = await api.GET('/v1/cameras/{id}', { params });
    if (existing.response.ok) return 'is there already';
    try {
      if (existing.response.status !== 404) await ok(Promise.resolve(existing));
      const snapshot = { url, interval_s: seconds, ...login };
      await ok(api.PUT('/v1/cameras/{id}', { params, body: { name, labels, preset, snapshot } }));
      return 'set up';
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.kind === 'refused') return { reason: thrown.message };
      throw thrown;
    }
  };
}
