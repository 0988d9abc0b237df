/** Visits as the reducer makes them, and an in-memory store of them. */
import { derivedId } from '../../src/base/ids.js';
import type { Feedback } from '../../src/schemas/feedback.js';
import type { Visit } from '../../src/schemas/visit.js';
import type { createVisitStore } from '../../src/stores/changes/visits.js';
import { seesCamera } from '../../src/stores/redis/visibility.js';

const NOON = Date.parse('2026-01-05T12:00:00Z');

/** @param given.begun of its first frame, epoch ms; it lasts for 40 s */
export function storedVisit({
  name = 'person',
  begun = NOON,
  ...given
}: Partial<Visit> & { readonly name?: string; readonly begun?: number } = {}): Visit {
  const at = (seconds: number) => new Date(begun + seconds * 1000).toISOString();
  const box = { x: 0.1, y: 0.2, width: 0.1, height: 0.4 };
  return {
    id: derivedId('vis', begun, name),
    camera: 'gate',
    kind: 'visit',
    status: 'ended',
    caption: 'a person in red came in from the left, stood on the left for 30 s and left to the left',
    content: {
      thing: { noun: 'person', colour: 'red', count: 1, definite: false },
      came: { how: 'edge', edge: 'left', place: 'on the left' },
      stayed: { place: 'on the left', seconds: 30 },
      went: { how: 'edge', edge: 'left', place: 'on the left' },
      objects: [],
      seconds: 40,
    },
    identity: 'certain',
    first_seen: at(0),
    there_before: false,
    last_seen: at(40),
    gone: { after: at(40), before: at(41) },
    end: 'gone',
    frames: 41,
    path: [
      { at: at(0), box },
      { at: at(40), box },
    ],
    best: { comparison: 'cmp_00000000000000000000000001', side: 'after', at: at(20), box },
    changes: [],
    ...given,
  };
}

type VisitQuery = Parameters<ReturnType<typeof createVisitStore>['list']>[0];

/** The latest begun first. A list has one page, without a cursor. */
export class FakeVisits {
  readonly kept: Visit[] = [];
  async get(id: string) {
    return this.kept.find((visit) => visit.id === id);
  }
  async list(query: VisitQuery) {
    const { kind, camera, since = 0, until = Infinity, fits = () => true, visibility = 'everything', limit } = query;
    const items = this.kept.filter((visit) => {
      const begun = Date.parse(visit.first_seen);
      const isAsked = visit.kind === kind && (camera === undefined || visit.camera === camera);
      return isAsked && begun >= since && begun < until && seesCamera(visibility, visit.camera) && fits(visit);
    });
    const latest = items.sort((a, b) => (a.first_seen < b.first_seen ? 1 : -1));
    return { items: latest.slice(0, limit), nextCursor: null };
  }
  async counts(kind: Visit['kind'], camera: string, bounds: readonly number[]) {
    const times = this.kept.filter((one) => one.kind === kind && one.camera === camera);
    return bounds.slice(1).map((until, i) => {
      const isIn = (at: number) => at >= (bounds[i] as number) && at < until;
      return times.filter(({ first_seen }) => isIn(Date.parse(first_seen))).length;
    });
  }
  async judgements(ids: readonly string[]) {
    return ids.map((id) => {
      const { acknowledged_at = null, feedback = null } = this.kept.find((visit) => visit.id === id) ?? {};
      return { acknowledged_at, feedback };
    });
  }
  async acknowledge({ id }: Visit, on: boolean) {
    return this.#alter(id, { acknowledged_at: on ? new Date().toISOString() : null });
  }
  async giveFeedback(id: string, feedback: Omit<Feedback, 'at'> | null) {
    return this.#alter(id, { feedback: feedback && { ...feedback, at: new Date().toISOString() } });
  }
  #alter(id: string, altered: Partial<Visit>): boolean {
    const visit = this.kept.find((one) => one.id === id);
    if (visit !== undefined) Object.assign(visit, altered);
    return visit !== undefined;
  }
  async eraseOf() {
    return 0;
  }
}
