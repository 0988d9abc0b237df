/** A Frigate recorder on 127.0.0.1: the routes of its published OpenAPI that the companion uses, and no others. */
import type { ServerResponse } from 'node:http';
import { type Received, startReceiver } from './receiver.js';

export interface FakeEvent {
  readonly id: string;
  readonly camera: string;
  readonly start_time: number;
  end_time: number | null;
  data: { description?: string | null };
}

export type FakeRecorder = Awaited<ReturnType<typeof startRecorder>>;

export async function startRecorder() {
  const events: FakeEvent[] = [];
  const state = {
    /** null: no recording of that time */
    frame: (_camera: string, _at: number): Uint8Array | null => null,
    /** answers in place of the recorder if it returns true */
    fault: (_request: Received, _response: ServerResponse): boolean => false,
  };
  const json = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  /** The schema EventResponse. */
  const shown = (event: FakeEvent) => ({
    ...{ label: 'person', sub_label: null, false_positive: false, zones: [], thumbnail: '', has_clip: true },
    ...{ has_snapshot: true, retain_indefinitely: false, plus_id: null, model_hash: null, detector_type: null },
    ...{ model_type: null, ...event },
  });
  const notFound = (response: ServerResponse) => json(response, 404, { success: false, message: 'not found' });

  const server = await startReceiver((request, response) => {
    if (state.fault(request, response)) return;
    const { pathname, searchParams } = new URL(request.path, 'http://recorder');
    const [, root, first = '', second, third] = pathname.split('/').map(decodeURIComponent);
    if (root !== 'api') return notFound(response);
    if (first === 'events' && second === undefined) {
      const cameras = searchParams.get('cameras')?.split(',');
      const found = events
        .filter(({ start_time }) => start_time > Number(searchParams.get('after')))
        .filter(({ camera }) => cameras === undefined || cameras.includes(camera))
        .sort((a, b) => a.start_time - b.start_time);
      return json(response, 200, found.slice(0, Number(searchParams.get('limit'))).map(shown));
    }
    const event = events.find(({ id }) => first === 'events' && id === second);
    if (first === 'events' && event === undefined) return notFound(response);
    if (event !== undefined && third === undefined) return json(response, 200, shown(event));
    if (event !== undefined && third === 'description' && request.method === 'POST') {
      event.data = { ...event.data, description: JSON.parse(request.body).description };
      return json(response, 200, { success: true, message: 'Event description set' });
    }
    const bytes = second === 'recordings' ? state.frame(first, Number(third)) : null;
    if (bytes === null) return notFound(response);
    return response.writeHead(200, { 'content-type': 'image/jpeg' }).end(bytes);
  });

  return {
    url: server.url,
    received: server.received,
    events,
    state,
    /** Adds an event that has ended. @returns it */
    add(id: string, start_time: number, change: Partial<FakeEvent> = {}): FakeEvent {
      const event = { id, camera: 'gate', start_time, end_time: start_time + 10, data: {}, ...change };
      events.push(event);
      return event;
    },
    /** descriptions by id */
    descriptions: () => Object.fromEntries(events.map(({ id, data }) => [id, data.description])),
    close: () => server.close(),
  };
}
