/** Finder of cameras for a request, and the form in which it sees them. */
import { notFound } from '../../base/errors.js';
import { originAndPath } from '../../base/redact-url.js';
import { type AlertReceivers, alertNotes } from '../../camera/settings/alert-notes.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import { matchesCamera } from '../../camera/settings/id-pattern.js';
import { presetOf } from '../../camera/settings/presets.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import type { CameraState } from '../../camera/state/state.js';
import type { MessageEvent } from '../../schemas/message.js';
import { noCamera } from '../../stores/cameras/cameras.js';
import { seesCamera, type Visibility } from '../../stores/redis/visibility.js';
import type { ApiDependencies } from '../dependencies.js';
import { operatingPointsOf } from '../intake/models.js';
import type { Camera } from '../schemas/camera-answers.js';

/** @returns the member `false_alarm_budget` of the answer; none if the camera has no budget */
export async function falseAlarmBudgetOf(
  { settings }: StoredCamera,
  state: CameraState | undefined,
  { workers }: Pick<ApiDependencies, 'workers'>,
): Promise<Pick<Camera, 'false_alarm_budget'>> {
  const { false_alarms_per_day } = settings;
  if (false_alarms_per_day === null) return {};
  const points = await operatingPointsOf(settings.model, workers);
  // Loaded with the first camera that has a budget.
  const { describeBudget } = await import('../../camera/settings/alarm-budget.js');
  const history = state ?? { intervalMs: null };
  return { false_alarm_budget: describeBudget({ ...settings, false_alarms_per_day }, history, points) };
}

/** @returns the member `notes` of the answer; none if nothing keeps the camera from alerting */
export async function alertNotesOf(
  { id, settings }: StoredCamera,
  { endpoints, clock }: Pick<ApiDependencies, 'endpoints' | 'clock'>,
): Promise<Pick<Camera, 'notes'>> {
  const all = (await endpoints.all()).filter(({ settings: { enabled, cameras }, stopped }) => {
    return enabled && stopped === null && (cameras.length === 0 || cameras.some((one) => matchesCamera(one, id)));
  });
  const asking = (...events: readonly MessageEvent[]) =>
    all.filter(({ settings: { events: wanted } }) => events.some((one) => wanted.includes(one))).length;
  const receivers: AlertReceivers = {
    ofChanges: asking('change.opened', 'change.escalated'),
    ofVisits: asking('visit.alerted'),
  };
  const notes = alertNotes(settings, receivers, clock());
  return notes.length === 0 ? {} : { notes };
}

export const presentCamera = (
  { id, settings, reference, created_at, updated_at }: StoredCamera,
  { isAdmin }: { readonly isAdmin: boolean },
): Camera => ({
  id,
  ...(isAdmin ? settings : withoutTokens(settings)),
  reference: reference === null ? null : { sha256: reference.sha256 },
  preset: presetOf(settings),
  created_at,
  updated_at,
});

/** Removes the queries of addresses, which may contain tokens, for keys without the scope admin. */
const withoutTokens = (settings: CameraSettings): CameraSettings => ({
  ...settings,
  snapshot: settings.snapshot && { ...settings.snapshot, url: originAndPath(settings.snapshot.url) },
  alerts: {
    ...settings.alerts,
    callback_url: settings.alerts.callback_url && originAndPath(settings.alerts.callback_url),
  },
});

/** @throws ScenedeltaError 'not-found' */
export async function findCamera(
  deps: { readonly cameras: Pick<ApiDependencies['cameras'], 'get'> },
  id: string,
  visibility: Visibility,
): Promise<StoredCamera> {
  const camera = seesCamera(visibility, id) ? await deps.cameras.get(id) : undefined;
  if (camera !== undefined) return camera;
  // The text is the same for a camera that does not exist and for one of another key.
  throw visibility === 'everything' ? noCamera(id) : notOfKey(id, visibility);
}

const notOfKey = (id: string, visibility: Exclude<Visibility, 'everything'>) =>
  notFound(
    `There is no camera ${id} among those of this key (${visibility.cameras.join(', ') || 'none'}): ` +
      `PUT /v1/cameras/${id} sets one up, and \`scenedelta keys create --cameras\` lets a key use it`,
  );
