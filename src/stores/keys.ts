/** Every Redis key of the service. No other file spells one. */
import type { ChangeStatus } from '../schemas/change.js';

/** The stream of events is trimmed to about this many entries. */
export const EVENTS_KEPT = 10_000;
/** Bound of a camera's events, which are removed only by its next frame. */
export const CAMERA_EVENTS_KEPT = 1_000;

export const KEYS = {
  comparison: (id: string) => `sd:cmp:${id}`,
  /** sorted sets, member = comparison id, score = creation time in ms */
  comparisonsByTime: 'sd:cmps',
  comparisonsByCamera: (camera: string) => `sd:cmps:camera:${camera}`,
  comparisonsByOwner: (owner: string) => `sd:cmps:owner:${owner}`,
  comparisonsByVerdict: (verdict: string) => `sd:cmps:verdict:${verdict}`,
  /** The verdict comes first, because the name of a camera may contain ':'. */
  comparisonsByVerdictAndCamera: (verdict: string, camera: string) => `sd:cmps:both:${verdict}:${camera}`,
  /** sorted sets of ids that are not final, score = last write in ms; recovery reads them after a crash */
  comparisonsOpen: 'sd:cmps:open',
  /** the same per owner, score = creation time in ms; it bounds the queue's share of the owner */
  comparisonsOpenOf: (owner: string) => `sd:cmps:open:${owner}`,
  deliveriesOpen: 'sd:dlvs:open',
  /** stream of the events of comparisons and changes, one JSON object per entry in the field `event` */
  events: 'sd:events',
  /** pub/sub channel of cancelled comparison ids: only the worker that holds a job can stop it */
  cancellations: 'sd:cancel',
  idempotency: (apiKeyId: string, key: string) => `sd:idem:${apiKeyId}:${key}`,
  rate: (apiKeyId: string, window: number) => `sd:rate:${apiKeyId}:${window}`,
  apiKeys: 'sd:keys',
  /** sorted set of delivery ids of a comparison or a change, score = creation time in ms */
  deliveriesOf: (id: string) => `sd:dlvs:${id}`,
  delivery: (id: string) => `sd:dlv:${id}`,
  change: (id: string) => `sd:chg:${id}`,
  /** sorted sets, member = change id, score = confirmation in ms by the camera's clock */
  changesByTime: 'sd:chgs',
  changesByCamera: (camera: string) => `sd:chgs:camera:${camera}`,
  changesByStatus: (status: ChangeStatus) => `sd:chgs:status:${status}`,
  changesByStatusAndCamera: (status: ChangeStatus, camera: string) => `sd:chgs:both:${status}:${camera}`,
  /** sorted sets of change ids, score = last write, and feedback, in ms by the clock of the service */
  changesByWriting: 'sd:chgs:written',
  changesByFeedback: 'sd:chgs:feedback',
  /** list of CameraEvent and BaselineEvent since the last frame of the camera */
  cameraEvents: (camera: string) => `sd:news:${camera}`,
  alert: (id: string) => `sd:alr:${id}`,
  /** sorted set of the ids of a change's alerts, score = the camera's time in ms */
  alertsOf: (change: string) => `sd:chg:${change}:alerts`,
  /** heartbeat of each live worker process: JSON with its models; expires */
  worker: (workerId: string) => `sd:worker:${workerId}`,
  /** set of the ids of workers that are live or have died a moment ago */
  workers: 'sd:workers',
  /** sorted set of the ids of all cameras, all with score 0, and so in alphabetical order */
  cameras: 'sd:cams',
  /**
   * hash: camera (settings), state (between two frames), snapshot (outcome of the last pull), framesErased (retention).
   * The id of a camera has no ':'.
   */
  camera: (id: string) => `sd:cam:${id}`,
  /** sorted set of comparison ids that wait for the camera's turn, score = capture time in ms */
  cameraFrames: (id: string) => `sd:cam:${id}:frames`,
  /** hash: number of turns begun per waiting comparison id */
  cameraTries: (id: string) => `sd:cam:${id}:tries`,
  /** lock of the turn under way: '<job id>:<token>'; expires */
  cameraTurn: (id: string) => `sd:cam:${id}:turn`,
  /** lock of the snapshot pull under way: its token; expires */
  cameraPull: (id: string) => `sd:cam:${id}:pull`,
} as const;
