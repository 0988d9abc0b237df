/** Comparisons as the API creates them, for tests of the later steps. */
import { randomBytes } from 'node:crypto';
import { newId } from '../../src/base/ids.js';
import { jobPayload } from '../../src/jobs/payloads.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import type { FrameRef, StoredFrameRef } from '../../src/schemas/frame-ref.js';
import type { StoredComparison } from '../../src/stores/comparisons/results.js';

export const storedRef = (fill: string): StoredFrameRef => ({
  from: 'stored',
  sha256: fill.repeat(64),
  bytes: 1,
  contentType: 'image/png',
});

export function acceptedComparison(
  options: {
    id?: string;
    camera?: string | null;
    createdAt?: number;
    before?: FrameRef;
    after?: FrameRef;
    deadline?: number | null;
    callbackUrl?: string | null;
    owner?: string;
    traceparent?: string;
  } = {},
): StoredComparison {
  const createdAt = options.createdAt ?? Date.now();
  const id = options.id ?? newId('cmp', createdAt);
  const before = options.before ?? storedRef('a');
  const after = options.after ?? storedRef('b');
  return {
    comparison: {
      id,
      camera: options.camera ?? null,
      status: 'queued',
      created_at: new Date(createdAt).toISOString(),
      finished_at: null,
    },
    frames: {
      before: before.from === 'stored' ? before : null,
      after: after.from === 'stored' ? after : null,
    },
    request: {
      traceId: randomBytes(16).toString('hex'), // as the API makes them
      ...(options.traceparent === undefined ? {} : { traceparent: options.traceparent }),
      before,
      after,
      model: null,
      acceptedAt: createdAt,
      deadline: options.deadline ?? null,
      callbackUrl: options.callbackUrl ?? null,
      apiKeyId: 'key_test',
      owner: options.owner ?? 'key_test',
    },
  };
}

export const finding = {
  verdict: 'change',
  kind: 'appear',
  nuisance: [],
  caption: 'a parcel appeared',
  caption_score: 0.9,
  words: [
    { text: 'a', score: 0.9 },
    { text: 'parcel', score: 0.9 },
    { text: 'appeared', score: 0.9 },
  ],
  confidence: 0.97,
  severity: 'medium',
  regions: [{ id: 1, side: 'after', box: { x: 0.1, y: 0.2, width: 0.3, height: 0.2 }, area: 0.05, score: 0.8 }],
  model: { name: 'test', version: '1', sha256: '0'.repeat(64), provider: 'cpu' },
} as const satisfies Partial<Record<keyof Comparison, unknown>>;

export const finished = (comparison: Comparison, change: Partial<Comparison> = {}): Comparison =>
  ({
    ...comparison,
    ...structuredClone(finding),
    status: 'finished',
    finished_at: new Date().toISOString(),
    ...change,
  }) as Comparison;

/** The payload of the comparison's job. */
export const jobOf = ({ comparison, request }: StoredComparison) =>
  jobPayload({ comparisonId: comparison.id, traceId: request.traceId });
