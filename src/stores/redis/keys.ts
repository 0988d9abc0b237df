/** Every Redis key of the service. No other file spells one. */
import type { ChangeStatus, VisitKind } from '../../schemas/kinds.js';

/** The stream of events is trimmed to about this many entries. */
export const EVENTS_KEPT = 10_000;
/** The log of changes for the search index is trimmed to about this many entries. */
export const CHANGE_LOG_KEPT = 100_000;
/** Bound of a camera's events, which are removed only by its next frame. */
export const CAMERA_EVENTS_KEPT = 1_000;
/** Bound of a camera's unseen spans. */
export const UNSEEN_KEPT = 2_000;

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
  /** sorted set of the hashes of frames whose comparison or camera was erased, score = time of the erasure in ms */
  framesLeft: 'sd:frames:left',
  deliveriesOpen: 'sd:dlvs:open',
  /** stream of the events of comparisons and changes, one JSON object per entry in the field `event` */
  events: 'sd:events',
  /** pub/sub channel of cancelled comparison ids: only the worker that holds a job can stop it */
  cancellations: 'sd:cancel',
  /** channel of the replies to the questions of one API process (jobs/questions.ts) */
  answers: (asker: string) => `sd:answers:${asker}`,
  idempotency: (apiKeyId: string, key: string) => `sd:idem:${apiKeyId}:${key}`,
  rate: (apiKeyId: string, window: number) => `sd:rate:${apiKeyId}:${window}`,
  /**
   * hash: batch (request), status, finished, error, plan (cameras), run (number and beginning of the current run), and
   * per index of a camera: chunk:I (number of finished chunks), progress:I (at its end), ahead:I (since then)
   */
  batch: (id: string) => `sd:bat:${id}`,
  /** hash: the last checkpoint per index of a camera; apart, because it is large and only the camera's job reads it */
  batchCheckpoints: (id: string) => `sd:bat:${id}:checkpoints`,
  /** list of the names of the blobs of a camera's finished chunks, in their order */
  batchChunks: (id: string, index: number) => `sd:bat:${id}:chunks:${index}`,
  /** sorted set, member = batch id, score = creation time in ms */
  batchesByTime: 'sd:bats',
  /** sorted set, member = owner, score = the last turn of its jobs in the queue (jobs/batch-jobs.ts) */
  lastTurns: (queue: string) => `sd:turns:${queue}`,
  /** the turn that runs in the queue */
  runningTurn: (queue: string) => `sd:turn:${queue}`,
  apiKeys: 'sd:keys',
  /** exists while a signed token that was used, or whose session was ended, would be valid; expires */
  spentToken: (hash: string) => `sd:spent:${hash}`,
  /** sorted set of delivery ids of a comparison, a change or an endpoint, score = creation time in ms */
  deliveriesOf: (id: string) => `sd:dlvs:${id}`,
  delivery: (id: string) => `sd:dlv:${id}`,
  change: (id: string) => `sd:chg:${id}`,
  /** sorted sets, member = change id, score = confirmation in ms by the camera's clock */
  changesByTime: 'sd:chgs',
  changesByCamera: (camera: string) => `sd:chgs:camera:${camera}`,
  /** the same for reverted ones, score = the time of their end in ms by the camera's clock */
  changesByEnd: (camera: string) => `sd:chgs:ended:${camera}`,
  changesByStatus: (status: ChangeStatus) => `sd:chgs:status:${status}`,
  changesByStatusAndCamera: (status: ChangeStatus, camera: string) => `sd:chgs:both:${status}:${camera}`,
  /** sorted sets of change ids, score = last write, and feedback, in ms by the clock of the service */
  changesByWriting: 'sd:chgs:written',
  changesByFeedback: 'sd:chgs:feedback',
  visit: (id: string) => `sd:vis:${id}`,
  /** hash: acknowledged (time), feedback (JSON); expires with the visit */
  visitJudged: (id: string) => `sd:vis:${id}:judged`,
  /** sorted sets, member = visit id, score = its first frame in ms by the camera's clock */
  visitsByTime: (kind: VisitKind) => `sd:viss:${kind}`,
  visitsByCamera: (kind: VisitKind, camera: string) => `sd:viss:${kind}:${camera}`,
  /** the same of both kinds, score = last write in ms by the clock of the service */
  visitsByWriting: (camera: string) => `sd:viss:written:${camera}`,
  /** stream of ids of changes whose sentences were written or that were erased, in the field `id` ('': a mark) */
  changeLog: 'sd:chgs:log',
  /** list of CameraEvent and BaselineEvent since the last frame of the camera */
  cameraEvents: (camera: string) => `sd:news:${camera}`,
  alert: (id: string) => `sd:alr:${id}`,
  /** sorted set of all alerts, score = time of their making in ms by the clock of the service */
  alertsByTime: 'sd:alrs',
  /** set of the deliveries of an alert that have not ended, and 'arrived' once one has */
  deliveriesOfAlert: (id: string) => `sd:alr:${id}:dlvs`,
  /** sorted set, member = endpoint id, score = creation time in ms */
  endpoints: 'sd:ends',
  /** hash: endpoint (settings), sealed (secrets), failing (ms), delivered, error, stopped, permission, held (number) */
  endpoint: (id: string) => `sd:end:${id}`,
  /**
   * hash: ends (ms), held, first and last (capture times), `n:NOUN` (things), of the messages about a camera that the
   * limit of an endpoint held back, and `reported` (ms), the time of the last digest; expires
   */
  limited: (endpoint: string, camera: string) => `sd:end:${endpoint}:limit:${camera}`,
  /** sorted set of the ids of the messages that this limit let pass within its time, score = ms; expires */
  limitedSent: (endpoint: string, camera: string) => `sd:end:${endpoint}:sent:${camera}`,
  /** sorted set of `ENDPOINT:CAMERA`, score = time of the digest in ms */
  digestsDue: 'sd:digests',
  /** sorted set of the ids of messages and subjects that a limit held back, score = ms by the service's clock */
  heldBack: (endpoint: string) => `sd:end:${endpoint}:held`,
  /** exists until the next delivery to an endpoint that limits its rate; expires */
  endpointPace: (id: string) => `sd:end:${id}:pace`,
  /** sorted set of the ids of the messages about a change or a visit, score = the camera's time in ms */
  alertsOf: (change: string) => `sd:chg:${change}:alerts`,
  /** heartbeat of each live worker process: JSON with its models; expires */
  worker: (workerId: string) => `sd:worker:${workerId}`,
  /** pub/sub channel on which a worker process listens while it lives (stores/redis/runs.ts) */
  presence: (workerId: string) => `sd:present:${workerId}`,
  /**
   * the server of Redis that was last asked whether a worker lives, and since when it answers (stores/redis/runs.ts)
   */
  servedSince: 'sd:served-since',
  /** hash: worker, progress, deaths and whether it runs alone, of a job that has begun; expires */
  run: (item: string) => `sd:run:${item}`,
  /** hash: format and version of the records, and the mark in the API's store of frames (deployment.ts) */
  deployment: 'sd:deployment',
  /** written to find out whether Redis takes writes; expires */
  probe: 'sd:probe',
  /** the time of the service, epoch ms, as a process last stated it (stores/redis/clock.ts) */
  clock: 'sd:clock',
  /** exists while a login that a host refused is not sent again; expires */
  refusedLogin: (hash: string) => `sd:refused:${hash}`,
  /** set of the ids of workers that are live or have died a moment ago */
  workers: 'sd:workers',
  /** sorted set of the ids of all cameras, all with score 0, and so in alphabetical order */
  cameras: 'sd:cams',
  /**
   * hash: camera (settings), state (between two frames), snapshot (outcome of the last pull), framesErased (retention),
   * seen (when its last picture was processed, ms by the clock of the service), still (equal frames up to now),
   * standstill (that was reported), failure (of its last frames, until one is compared).
   * The id of a camera has no ':'.
   */
  camera: (id: string) => `sd:cam:${id}`,
  /** sorted set of comparison ids that wait for the camera's turn, score = capture time in ms */
  cameraFrames: (id: string) => `sd:cam:${id}:frames`,
  /**
   * hash: per waiting comparison id its failed tries, `ID:worker` that runs it (with `!`: alone), `ID:deaths`,
   * `ID:deathsAlone`
   */
  cameraTries: (id: string) => `sd:cam:${id}:tries`,
  /** lock of the turn under way: '<job id>:<token>'; expires */
  cameraTurn: (id: string) => `sd:cam:${id}:turn`,
  /** sorted set of UnseenSpan as JSON, score = its end in ms by the camera's clock */
  cameraUnseen: (id: string) => `sd:cam:${id}:unseen`,
  /** lock of the snapshot pull under way: '<worker>:<token>'; expires */
  cameraPull: (id: string) => `sd:cam:${id}:pull`,
} as const;

/** @returns the key of the record of a comparison or a batch, by the prefix of its id */
export const resourceKey = (id: string): string => (id.startsWith('bat_') ? KEYS.batch(id) : KEYS.comparison(id));
