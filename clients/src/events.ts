/**
 * The events of the service (GET /v1/events, server-sent events) from a position on. The connection is made again after
 * it broke, with the last event that was read, so that none is missed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { components } from '../../openapi/generated/api.js';
import { Failure, failureOf } from './failure.js';
import { reasonOf, type Service } from './service.js';

export type StreamEvent = components['schemas']['StreamEvent'];
export interface ReceivedEvent {
  /** for `since` */
  readonly id: string;
  readonly event: StreamEvent;
}

export interface FollowOptions {
  /** id of the last event that was handled; default: only new events */
  readonly since?: string;
  /** only the events of this camera */
  readonly camera?: string;
  readonly signal?: AbortSignal;
  /** is called each time the stream breaks; an error that it throws ends the stream. Default: throws a refusal */
  readonly onBreak?: (reason: Error) => void;
}

/** The service sends a heartbeat every 15 s. */
const SILENT_MS = 40_000;
const AGAIN_MS = 1_000;

const throwIfRefused = (reason: Error): void => {
  if (reason instanceof Failure && reason.kind === 'refused') throw reason;
};

/**
 * Ends when the signal aborts. A receiver that is slow to take events holds the stream up and fills no memory.
 * @throws Failure 'unauthorized' if the key is refused; the error of `onBreak`
 */
export async function* followEvents(
  service: Pick<Service, 'request'>,
  { since, camera, signal = new AbortController().signal, onBreak = throwIfRefused }: FollowOptions = {},
): AsyncGenerator<ReceivedEvent, void, undefined> {
  const query = camera === undefined ? '' : `?${new URLSearchParams({ camera })}`;
  let last = since;
  while (!signal.aborted) {
    try {
      for await (const received of readStream(service, `/v1/events${query}`, last, signal)) {
        last = received.id;
        yield received;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Failure && error.kind === 'unauthorized') throw error;
      onBreak(error as Error);
    }
    await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
  }
}

async function* readStream(
  { request }: Pick<Service, 'request'>,
  path: string,
  since: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<ReceivedEvent> {
  const silence = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(new Error('the service is silent')), SILENT_MS);
  };
  heard();
  try {
    const response = await request(path, {
      headers: { accept: 'text/event-stream', ...(since === undefined ? {} : { 'last-event-id': since }) },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (!response.ok || response.body === null) {
      throw failureOf(response.status, `the service answered ${response.status}: ${await reasonOf(response)}`);
    }
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      // The time in which the receiver takes no event does not count.
      clearTimeout(timer);
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const received = parseBlock(block);
        if (received !== undefined) yield received;
      }
      heard();
    }
  } finally {
    clearTimeout(timer);
  }
}

/** @returns undefined for a comment or `retry` */
function parseBlock(block: string): ReceivedEvent | undefined {
  const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  const [id, data] = [fields.get('id'), fields.get('data')];
  return id === undefined || data === undefined ? undefined : { id, event: JSON.parse(data) as StreamEvent };
}
