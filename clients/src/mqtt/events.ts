/**
 * The events of the service (GET /v1/events, server-sent events) about changes and visits, from a position on. The
 * connection is made again after it broke, with the last event that was read, so that none is missed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { components } from '../../../openapi/generated/api.js';
import { Failure, failureOf } from '../failure.js';
import { reasonOf, type Service } from '../service.js';
import type { Log } from './log.js';

export type StreamEvent = components['schemas']['StreamEvent'];
export interface ReceivedEvent {
  /** for Last-Event-ID */
  readonly id: string;
  readonly event: StreamEvent;
}

/** The service sends a heartbeat every 15 s. */
const SILENT_MS = 40_000;
const AGAIN_MS = 1_000;

interface FollowOptions {
  readonly service: Pick<Service, 'request'>;
  /** id of the last event that was handled */
  readonly since: string;
  /** resolves when the receiver takes another event: a slow broker holds the stream up and fills no memory */
  readonly onEvent: (received: ReceivedEvent) => Promise<void>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Runs until the signal aborts. @throws Failure 'unauthorized' if the key is refused */
export async function followEvents({ service, since, onEvent, log, signal }: FollowOptions): Promise<void> {
  let last = since;
  let reported = false;
  while (!signal.aborted) {
    try {
      for await (const received of readStream(service, last, signal)) {
        reported = false;
        last = received.id;
        await onEvent(received);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Failure && error.kind === 'unauthorized') throw error;
      if (!reported) log('events cannot be read, trying again', { reason: (error as Error).message });
      reported = true;
    }
    await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
  }
}

async function* readStream(
  { request }: Pick<Service, 'request'>,
  since: string,
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
    const response = await request('/v1/events', {
      headers: { accept: 'text/event-stream', 'last-event-id': since },
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
