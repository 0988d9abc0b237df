/** Frames sent to the service: a pair, or the next frame of a camera. */
import type { components } from '../../openapi/generated/api.js';
import { ok, type Service } from './service.js';

export type Comparison = components['schemas']['Comparison'];

export interface SendOptions {
  /** longest wait for the outcome, s; default: 60. If it takes longer, `status` of the answer is queued or running */
  readonly wait?: number;
  /** a repetition with the same key within 24 hours is compared once */
  readonly idempotencyKey?: string;
  /** languages of the sentence, as in Accept-Language */
  readonly language?: string;
  readonly signal?: AbortSignal;
}

type Fields = Omit<components['schemas']['ComparisonForm'], 'before' | 'after' | 'metadata'>;
export interface PairOptions extends SendOptions, Fields {
  /** echoed by the answer */
  readonly metadata?: object;
}

export interface FrameOptions extends SendOptions {
  /** capture time; default: now */
  readonly captured_at?: Date;
}

/**
 * @param frames encoded bytes of the earlier and of the later frame of one camera
 * @throws Failure with title and detail of the service's refusal
 */
export function postPair({ api }: Pick<Service, 'api'>, frames: Frames<'before' | 'after'>, options: PairOptions = {}) {
  const { wait, idempotencyKey, language, signal, metadata, ...fields } = options;
  const bodySerializer = () =>
    formOf(frames, { ...fields, ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }) });
  const body = { before: '', after: '' };
  return ok(api.POST('/v1/comparisons', { ...sending(options), body, bodySerializer }));
}

/**
 * @param frame encoded bytes; frames of a camera are sent in the order of their capture times
 * @throws Failure with title and detail of the service's refusal
 */
export function postFrame(
  { api }: Pick<Service, 'api'>,
  camera: string,
  frame: Uint8Array,
  { captured_at, ...options }: FrameOptions = {},
): Promise<Comparison> {
  const fields = captured_at === undefined ? {} : { captured_at: captured_at.toISOString() };
  const { params, ...rest } = sending(options);
  return ok(
    api.POST('/v1/cameras/{id}/frames', {
      ...rest,
      params: { ...params, path: { id: camera } },
      body: { frame: '' },
      bodySerializer: () => formOf({ frame }, fields),
    }),
  );
}

type Frames<Name extends string> = Readonly<Record<Name, Uint8Array>>;

function sending({ wait = 60, idempotencyKey, language, signal }: SendOptions) {
  const key = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
  return {
    params: { header: { Prefer: `wait=${wait}`, ...key } },
    ...(language === undefined ? {} : { headers: { 'Accept-Language': language } }),
    ...(signal === undefined ? {} : { signal }),
  };
}

function formOf(frames: Readonly<Record<string, Uint8Array>>, fields: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, bytes] of Object.entries(frames)) form.set(name, new Blob([new Uint8Array(bytes)]), name);
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.set(name, String(value));
  return form;
}
