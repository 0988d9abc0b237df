/** The message to an endpoint, from which every format makes its request, and its wording. */
import { type FoundChange, shownSide } from '../schemas/change.js';
import type { AlertPayload, AlertToShow } from '../schemas/webhook-payload.js';

/** Payload of the alert, or of a test event. */
export interface EndpointMessage {
  /** the same for all receivers and attempts: id of the alert, or of the delivery of a test event */
  readonly id: string;
  readonly payload: AlertPayload;
  /** name of the camera for people */
  readonly cameraName: string;
  /** page of the console about the change */
  readonly link: string;
  /** base of the links of the service, without a trailing slash */
  readonly baseUrl: string;
  /** time of the attempt, epoch ms */
  readonly now: number;
}

/** Address and login of the receiver. */
export interface Receiver {
  /** with query */
  readonly url: string;
  /** value of the header Authorization; null: none */
  readonly authorization: string | null;
}

export interface EndpointRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
export type Format = (message: EndpointMessage, receiver: Receiver) => EndpointRequest;

const WHAT: Readonly<Record<AlertPayload['type'], string>> = {
  'change.opened': 'change',
  'change.escalated': 'change, more severe',
  'change.reverted': 'gone again',
  'change.acknowledged': 'acknowledged',
  'change.described': 'description',
  'endpoint.test': 'test, nothing has changed',
};

/** Whether the change is over for the people who are alerted. */
export const isOver = (type: AlertPayload['type']): boolean =>
  type === 'change.reverted' || type === 'change.acknowledged';

/** @returns e.g. 'Gate 3: change', at most 150 characters */
export const titleOf = ({ payload, cameraName }: EndpointMessage): string =>
  `${cameraName.slice(0, 100)}: ${WHAT[payload.type]}`;

/** @returns the sentence with the number of suppressed alerts, or that of the describer with ours */
export function textOf({ payload: { data } }: EndpointMessage): string {
  const { caption } = data.change;
  const { description } = data;
  if (description?.sentence != null) {
    return `${description.sentence} (described by ${description.model ?? 'a language model'}; ours: ${caption})`;
  }
  const count = data.suppressed_count;
  return count === 0 ? caption : `${caption} (and ${count} more since the last alert)`;
}

/** @returns a picture of the change: outlined, or the frame itself; undefined if both have expired */
export const pictureOf = ({ payload: { data } }: EndpointMessage): string | undefined => {
  const side = shownSide(data.change);
  return data.heatmaps?.[side].url ?? data.frames?.[side].url;
};

const NOBODY = '00000000000000000000000000';

/** The alert of a test event: an invented change. @param at epoch ms */
export function testAlert(at: number): AlertToShow {
  const time = new Date(at).toISOString();
  const comparison = `cmp_${NOBODY}`;
  const change: FoundChange = {
    id: `chg_${NOBODY}`,
    camera: 'test',
    zone: null,
    kind: 'appear',
    caption: 'this is a test: a red car has appeared on the left',
    confidence: 1,
    status: 'opened',
    severity: 'info',
    first_seen: time,
    confirmed_at: time,
    last_seen: time,
    settled_at: null,
    reverted_at: null,
    alerted_at: time,
    suppressed_count: 0,
    regions: [{ side: 'after', box: { x: 0.1, y: 0.4, width: 0.2, height: 0.2 }, area: 0.04, score: 1, zone: null }],
    comparisons: { first: comparison, best: comparison, last: comparison },
  };
  return { type: 'endpoint.test', change, suppressedCount: 0, at };
}
