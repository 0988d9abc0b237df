/** In-memory stores for tests of the code around the stores. They implement the methods that the API uses. */
import type { EmbeddedQuery } from '../../src/api/search/query-vectors.js';
import type { BlobStore } from '../../src/base/blobs.js';
import type { ScenedeltaError } from '../../src/base/errors.js';
import { maskOf, type StoredCamera } from '../../src/camera/settings/camera.js';
import type { BaselineEvent, CameraState } from '../../src/camera/state/state.js';
import type { Change } from '../../src/schemas/change.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import type { Feedback } from '../../src/schemas/feedback.js';
import { isFinal } from '../../src/schemas/finding.js';
import type { SearchVector } from '../../src/schemas/search-vector.js';
import type { StreamEvent } from '../../src/schemas/stream-event.js';
import type { CameraQuery, FrameFailure, SnapshotOutcome } from '../../src/stores/cameras/cameras.js';
import type { StoredMessage } from '../../src/stores/changes/change-writes.js';
import type { ChangeQuery } from '../../src/stores/changes/changes.js';
import { eventOf } from '../../src/stores/comparisons/result-writes.js';
import type { ListQuery } from '../../src/stores/comparisons/results.js';
import type { StoredComparison } from '../../src/stores/comparisons/stored-comparison.js';
import {
  compareEventIds,
  type EventFilter,
  type EventReader,
  matches,
  type StreamedEvent,
} from '../../src/stores/delivery/events.js';
import { seesCamera, seesComparison, type Visibility } from '../../src/stores/redis/visibility.js';

export class FakeEvents implements EventReader {
  readonly kept: StreamedEvent[] = [];
  readonly #listeners = new Set<(streamed: StreamedEvent) => void>();

  append(comparison: Comparison, owner?: string, id = `${Date.now()}-${this.kept.length}`): void {
    this.tell(eventOf(comparison, Date.now()), id, owner);
  }
  tell(event: StreamEvent, id = `${Date.now()}-${this.kept.length}`, owner?: string): void {
    const streamed = { id, event, ...(owner === undefined ? {} : { owner }) };
    this.kept.push(streamed);
    for (const listener of [...this.#listeners]) listener(streamed);
  }
  get listening(): number {
    return this.#listeners.size;
  }
  on(listener: (streamed: StreamedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
  async read(sinceId: string, filter: EventFilter = {}) {
    return this.kept.filter((one) => compareEventIds(one.id, sinceId) > 0 && matches(one, filter));
  }
  /** as while Redis does not answer, if false */
  following = true;
  isFollowing(): boolean {
    return this.following;
  }
  async close(): Promise<void> {}
}

export class FakeResults {
  readonly kept = new Map<string, StoredComparison>();
  constructor(
    private readonly events: FakeEvents,
    private readonly cameras = new FakeCameras(),
  ) {}
  async eraseEvents() {}

  async create(stored: StoredComparison) {
    const { turn } = stored.request;
    if (turn && !(await this.cameras.addFrame(turn.camera, stored.comparison.id, turn.capturedAt))) return false;
    this.kept.set(stored.comparison.id, stored);
    this.events.append(stored.comparison, stored.request.owner);
    return true;
  }
  async get(id: string) {
    return this.kept.get(id);
  }
  async many(ids: readonly string[]) {
    return ids.map((id) => this.kept.get(id)?.comparison);
  }
  async update(id: string, change: { comparison: Comparison; frames?: StoredComparison['frames'] }) {
    const stored = this.kept.get(id);
    if (stored === undefined || isFinal(stored.comparison.status)) return false;
    this.kept.set(id, { ...stored, ...change });
    this.events.append(change.comparison, stored.request.owner);
    return true;
  }
  async list({ visibility = 'everything', ...query }: ListQuery) {
    const all = [...this.kept.values()]
      .filter(({ comparison: { camera }, request }) => seesComparison(visibility, { owner: request.owner, camera }))
      .map((stored) => stored.comparison)
      .filter((c) => query.camera === undefined || c.camera === query.camera)
      .filter((c) => query.verdict === undefined || c.verdict === query.verdict)
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .filter((c) => query.cursor === undefined || c.id < query.cursor.slice(2));
    const items = all.slice(0, query.limit);
    return { items, nextCursor: all.length > query.limit ? `0.${items.at(-1)?.id}` : null };
  }
  async openOf(owner: string) {
    return [...this.kept.values()].filter(
      ({ comparison, request }) => !isFinal(comparison.status) && request.owner === owner,
    ).length;
  }
  async erase(id: string) {
    return this.kept.delete(id);
  }
}

export class FakeBlobs implements BlobStore {
  readonly kept = new Map<string, Uint8Array>();
  /** thrown by the next put, once */
  failNextPut: ScenedeltaError | undefined;

  async put(key: string, bytes: Uint8Array) {
    const failure = this.failNextPut;
    this.failNextPut = undefined;
    if (failure !== undefined) throw failure;
    this.kept.set(key, bytes);
  }
  async get(key: string) {
    return this.kept.get(key);
  }
  async delete(key: string) {
    this.kept.delete(key);
  }
  async sweep() {
    return 0;
  }
}

export class FakeCameras {
  readonly kept = new Map<string, StoredCamera>();
  readonly states = new Map<string, CameraState>();
  readonly snapshots = new Map<string, SnapshotOutcome>();
  readonly failures = new Map<string, FrameFailure>();
  /** comparison ids in the order of their time, by camera */
  readonly waiting = new Map<string, { id: string; at: number }[]>();

  async put(camera: StoredCamera) {
    const isNew = !this.kept.has(camera.id);
    this.kept.set(camera.id, camera);
    return isNew;
  }
  async alter(id: string, alter: (camera: StoredCamera) => StoredCamera | Promise<StoredCamera>) {
    const camera = this.kept.get(id);
    if (camera !== undefined) this.kept.set(id, await alter(camera));
    return this.kept.get(id);
  }
  async get(id: string) {
    return this.kept.get(id);
  }
  async list({ cursor, limit, visibility = 'everything' }: CameraQuery) {
    const all = [...this.kept.values()]
      .filter(({ id }) => seesCamera(visibility, id) && (cursor === undefined || id > cursor))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const items = all.slice(0, limit);
    return { items, nextCursor: all.length > limit ? (items.at(-1)?.id ?? null) : null };
  }
  async records(visibility: Visibility) {
    const { items } = await this.list({ limit: Number.POSITIVE_INFINITY, visibility });
    return items.map((camera) => {
      const { id } = camera;
      return { camera, state: this.states.get(id), snapshot: this.snapshots.get(id), failure: this.failures.get(id) };
    });
  }
  async maskOf(id: string | null) {
    const camera = id === null ? undefined : this.kept.get(id);
    return camera === undefined ? null : maskOf(camera);
  }
  async state(id: string) {
    return this.states.get(id);
  }
  async failure(id: string) {
    return this.failures.get(id);
  }
  async snapshot(id: string) {
    return this.snapshots.get(id);
  }
  async saveSnapshot(id: string, outcome: SnapshotOutcome) {
    this.snapshots.set(id, outcome);
  }
  async addFrame(id: string, comparisonId: string, at: number) {
    if (!this.kept.has(id)) return false;
    const others = (this.waiting.get(id) ?? []).filter((frame) => frame.id !== comparisonId);
    const waiting = [...others, { id: comparisonId, at }].sort((a, b) => a.at - b.at);
    this.waiting.set(id, waiting);
    return true;
  }
  readonly orders: { id: string; event: BaselineEvent }[] = [];
  async orderBaseline(id: string, event: BaselineEvent) {
    if (this.kept.has(id)) this.orders.push({ id, event });
    return this.kept.has(id);
  }
  async waitingFrames(id: string) {
    return this.waiting.get(id)?.length ?? 0;
  }
  async erase(id: string) {
    this.states.delete(id);
    this.waiting.delete(id);
    return this.kept.delete(id);
  }
}

/** The routes pass the answers of this store on unchanged. */
export class FakeChanges {
  readonly kept: Change[] = [];
  readonly queries: ChangeQuery[] = [];
  nextCursor: string | null = null;
  async get(id: string) {
    return this.kept.find((change) => change.id === id);
  }
  async many(ids: readonly string[]) {
    return Promise.all(ids.map((id) => this.get(id)));
  }
  async list(query: ChangeQuery) {
    this.queries.push(query);
    const visible = this.kept.filter(({ camera }) => seesCamera(query.visibility ?? 'everything', camera));
    return { items: visible.slice(0, query.limit), nextCursor: this.nextCursor };
  }
  async acknowledge(id: string) {
    const change = this.#alter(id, { status: 'acknowledged', acknowledged_at: new Date().toISOString() });
    return change && { change, alert: null };
  }
  async withdrawAcknowledgement(id: string) {
    return this.#alter(id, { status: 'persisting', acknowledged_at: null });
  }
  readonly keptVectors = new Map<string, SearchVector>();
  /** answers of the worker, by the text of the query */
  readonly queryVectors = new Map<string, EmbeddedQuery>();
  /** ids of changes that were made normal */
  readonly normal: string[] = [];
  async makeNormal({ id }: Pick<Change, 'id'>) {
    this.normal.push(id);
  }
  async withdrawFeedback(id: string) {
    return this.#alter(id, { feedback: null });
  }
  async counts(cameras: readonly string[] | null, bounds: readonly number[]) {
    const times = this.kept.flatMap(({ camera, confirmed_at }) =>
      cameras === null || cameras.includes(camera) ? [Date.parse(confirmed_at)] : [],
    );
    return bounds.slice(1).map((until, i) => times.filter((at) => at >= (bounds[i] ?? 0) && at < until).length);
  }
  async giveFeedback(id: string, feedback: Omit<Feedback, 'at'>) {
    return this.#alter(id, { feedback: { ...feedback, at: new Date().toISOString() } });
  }
  async alert(): Promise<StoredMessage | undefined> {
    return undefined;
  }
  readonly messages: StoredMessage[] = [];
  async saveMessage(message: StoredMessage): Promise<void> {
    this.messages.push(message);
  }
  async *alertsSince(): AsyncGenerator<string[]> {}
  #alter(id: string, altered: Partial<Change>) {
    const i = this.kept.findIndex((change) => change.id === id);
    const change = this.kept[i];
    if (change === undefined) return undefined;
    const now = { ...change, ...altered };
    this.kept[i] = now;
    return now;
  }
  async withFeedback(after: number, limit: number) {
    const items = this.kept.filter(({ feedback }) => feedback !== null).slice(after, after + limit);
    return { items, last: items.length < limit };
  }
  async eraseOf() {
    return 0;
  }
}
