/** Every Redis key of the service. No other file spells one. */
import type { ChangeStatus } from '../schemas/change.js';

/** The stream of events is trimmed to about this many entries. */
export const EVENTS_KEPT = 10_000;

export const KEYS = {
  comparison: (id: string) => `sd:cmp:${id}`,
  /** sorted sets, member = comparison id, score = creation time in ms */
  comparisonsByTime: 'sd:cmps',
  comparisonsByCamera: (camera: string) => `sd:cmps:camera:${camera}`,
  comparisonsByVerdict: (verdict: string) => `sd:cmps:verdict:${verdict}`,
  /** the verdict comes first: it has no ':', a camera's name may have one */
  comparisonsByVerdictAndCamera: (verdict: string, camera: string) => `sd:cmps:both:${verdict}:${camera}`,
  /** sorted sets of what is not final yet, score = time of the last change in ms: what a crash left behind is found here */
  comparisonsOpen: 'sd:cmps:open',
  deliveriesOpen: 'sd:dlvs:open',
  /** one stream of everything that happens to comparisons; SSE and waiting requests read it */
  events: 'sd:events',
  /** pub/sub channel on which cancelled comparison ids are broadcast, because only the worker that owns a job can stop it */
  cancellations: 'sd:cancel',
  idempotency: (apiKeyId: string, key: string) => `sd:idem:${apiKeyId}:${key}`,
  rate: (apiKeyId: string, window: number) => `sd:rate:${apiKeyId}:${window}`,
  apiKeys: 'sd:keys',
  /** of a comparison or of a change */
  deliveriesOf: (id: string) => `sd:dlvs:${id}`,
  delivery: (id: string) => `sd:dlv:${id}`,
  change: (id: string) => `sd:chg:${id}`,
  /** sorted sets, member = change id, score = confirmation in ms by the camera's clock */
  changesByTime: 'sd:chgs',
  changesByCamera: (camera: string) => `sd:chgs:camera:${camera}`,
  changesByStatus: (status: ChangeStatus) => `sd:chgs:status:${status}`,
  changesByStatusAndCamera: (status: ChangeStatus, camera: string) => `sd:chgs:both:${status}:${camera}`,
  /** sorted sets, score = our clock in ms: when a change was last written, when feedback was given */
  changesByWriting: 'sd:chgs:written',
  changesByFeedback: 'sd:chgs:feedback',
  /** list of CameraEvent since the last frame of the camera */
  cameraEvents: (camera: string) => `sd:news:${camera}`,
  alert: (id: string) => `sd:alr:${id}`,
  /** sorted set of the ids of a change's alerts, score = the camera's time in ms */
  alertsOf: (change: string) => `sd:chg:${change}:alerts`,
  /** heartbeat of each live worker process: JSON with its models; expires */
  worker: (workerId: string) => `sd:worker:${workerId}`,
  /** set of the ids of workers that were live a moment ago */
  workers: 'sd:workers',
  /** sorted set of the ids of all cameras, all with score 0: in the order of their letters */
  cameras: 'sd:cams',
  /** hash: camera (settings), state (between two frames), snapshot (how the last pull ended), framesErased (retention). A camera's id has no ':' */
  camera: (id: string) => `sd:cam:${id}`,
  /** sorted set of comparison ids that wait for the camera's turn, score = captured time in ms; equal times order by id */
  cameraFrames: (id: string) => `sd:cam:${id}:frames`,
  /** hash: how often the turn of a waiting frame has begun */
  cameraTries: (id: string) => `sd:cam:${id}:tries`,
  /** '<job id>:<token>' of the turn under way; expires */
  cameraTurn: (id: string) => `sd:cam:${id}:turn`,
  /** whose the snapshot pull under way is; expires */
  cameraPull: (id: string) => `sd:cam:${id}:pull`,
} as const;
