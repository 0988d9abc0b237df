/** Query of a list of changes: its filters, and the index that answers most of them. */
import { type Change, type ChangeStatus, type FilterKind, hasKind, type Severity } from '../schemas/change.js';
import { KEYS } from './keys.js';
import type { PageQuery } from './pages.js';
import type { Visibility } from './visibility.js';

/** `since` and `until` refer to the time of the confirmation, by the camera's clock. */
export interface ChangeQuery extends PageQuery {
  readonly camera?: string;
  readonly status?: ChangeStatus;
  readonly zone?: string;
  readonly kind?: FilterKind;
  readonly severity?: Severity;
  /** default: everything */
  readonly visibility?: Visibility;
}

/** The sorted set that has the changes of this camera and status. */
export function indexOf({ camera, status }: { camera?: string; status?: ChangeStatus }): string {
  if (status === undefined) return camera === undefined ? KEYS.changesByTime : KEYS.changesByCamera(camera);
  return camera === undefined ? KEYS.changesByStatus(status) : KEYS.changesByStatusAndCamera(status, camera);
}

/**
 * An acknowledged change stays in the index of the status that its last turn wrote, and a reverted one in the index of
 * the acknowledged ones.
 */
const hasStatus = (change: Change, status: ChangeStatus): boolean =>
  status === 'acknowledged' ? change.acknowledged_at !== null : change.status === status;

/** Whether the change has the status, zone, kind and severity that the query asks for. */
export const fitsQuery = (
  change: Change,
  { status, zone, kind, severity }: Pick<ChangeQuery, 'status' | 'zone' | 'kind' | 'severity'>,
): boolean =>
  (status === undefined || hasStatus(change, status)) &&
  (zone === undefined || change.zone === zone) &&
  (kind === undefined || hasKind(change, kind)) &&
  (severity === undefined || change.severity === severity);
