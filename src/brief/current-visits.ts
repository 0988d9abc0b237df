/** Visits as they are now: one that lasts is in the state of its camera, and its record is older. */
import { isLate } from '../camera/settings/health.js';
import { inMinutes, openVisits } from '../camera/visits/visit.js';
import type { Visit } from '../schemas/visit.js';
import type { CameraStore } from '../stores/cameras/cameras.js';

interface VisitDependencies {
  readonly cameras: Pick<CameraStore, 'get' | 'state'>;
  /** epoch ms */
  readonly clock: () => number;
}

/** @returns in the order of the stored ones */
export async function currentVisits(stored: readonly Visit[], { cameras, clock }: VisitDependencies): Promise<Visit[]> {
  const open = new Set(stored.filter(({ status }) => status === 'open').map(({ camera }) => camera));
  const lasting = await Promise.all([...open].map((id) => openVisitsOf(id, cameras, clock())));
  return stored.map((visit) => lasting.flat().find(({ id }) => id === visit.id) ?? visit);
}

/** The visits of a camera from which no frame comes have ended unseen, as far as is known. */
async function openVisitsOf(camera: string, cameras: VisitDependencies['cameras'], now: number): Promise<Visit[]> {
  const [state, stored] = await Promise.all([cameras.state(camera), cameras.get(camera)]);
  const { visits, last = null, intervalMs = null } = state ?? {};
  if (visits === undefined) return [];
  const timeZone = stored?.settings.schedule?.timezone ?? 'UTC';
  const end = isLate({ lastFrameAt: last?.at ?? null, intervalMs }, now) ? 'unseen' : null;
  return openVisits(visits, camera, end).map((visit) => inMinutes(visit, timeZone));
}
