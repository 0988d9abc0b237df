/** Changes as they stand, what people said of them, and alerts on their way. Redis (changes-redis.ts). */
import type {
  AlertIntent,
  CameraEvent,
  Change,
  ChangeStatus,
  ChangeUpdate,
  Feedback,
} from '../schemas/change.js';
import type { PageQuery } from './pages.js';
import type { RedisCommand } from './redis.js';

/** An alert with all that its delivery needs. */
export interface StoredAlert {
  readonly intent: AlertIntent;
  /** the comparison that gave rise to it */
  readonly comparisonId: string;
  /** with query and credentials, as the camera's settings have it */
  readonly url: string;
  readonly traceId: string;
  readonly apiKeyId: string;
}

/** What one turn of a camera brought. */
export interface TurnChanges {
  readonly camera: string;
  readonly changes: readonly ChangeUpdate[];
  readonly alerts: readonly StoredAlert[];
  /** how many of `news` the turn has taken into account */
  readonly newsTaken: number;
}

/** `since` and `until` are those of the confirmation, by the camera's clock. */
export interface ChangeQuery extends PageQuery {
  readonly camera?: string;
  readonly status?: ChangeStatus;
}

export interface ChangeStore {
  /** The writes of a turn, to be run in one step with those of its comparison; whoever runs them twice changes nothing by it. */
  writes(turn: TurnChanges): RedisCommand[];
  /** @throws ScenedeltaError 'queue-unavailable' where Redis is away; so do all the others. */
  get(id: string): Promise<Change | undefined>;
  /** The latest confirmed first. */
  list(query: ChangeQuery): Promise<{ items: Change[]; nextCursor: string | null }>;
  /** @returns the change as it stands then, undefined where there is none. The first acknowledgement counts. */
  acknowledge(id: string): Promise<Change | undefined>;
  /** The last feedback counts. */
  giveFeedback(id: string, feedback: Omit<Feedback, 'at'>): Promise<Change | undefined>;
  /** Changes with feedback, by the time of the feedback, the earliest first. @param after how many to pass over */
  withFeedback(after: number, limit: number): Promise<{ items: Change[]; last: boolean }>;
  /** What has become known since the last turn of the camera, oldest first. */
  news(camera: string): Promise<CameraEvent[]>;
  alert(id: string): Promise<StoredAlert | undefined>;
  /** Ids of the change's alerts of later frames. @param at epoch ms, the camera's time */
  alertsAfter(change: string, at: number): Promise<string[]>;
  /** Ids of changes that were last written before `before` (epoch ms), oldest first: for retention. */
  olderThan(before: number, limit: number): Promise<string[]>;
  /** Erases the changes of the camera that were last written before `before` (epoch ms). @returns how many. */
  eraseOlderOf(camera: string, before: number): Promise<number>;
  /** With its alerts and their deliveries, also those that are still to be made. */
  erase(id: string): Promise<boolean>;
  /** Everything of the camera: when it is deleted. @returns how many changes. */
  eraseOf(camera: string): Promise<number>;
}
