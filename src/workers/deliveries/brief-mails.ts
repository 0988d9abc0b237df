/**
 * Briefs by mail: once per day for each endpoint that wants one. Its message has an id that follows from endpoint and
 * day, and is noted at the endpoint last, so that a restart at the hour of sending neither doubles nor loses it.
 */
import { HOUR_MS } from '../../base/clock.js';
import { derivedId, newTraceId } from '../../base/ids.js';
import { isoTime } from '../../base/wall-clock.js';
import { type BriefDependencies, createBriefs, MOST_READ } from '../../brief/camera-brief.js';
import { type Day, dayUntil } from '../../brief/day.js';
import { type CameraPart, highlightsOf, paragraphOf } from '../../brief/summary.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import { matchesCamera } from '../../camera/settings/id-pattern.js';
import type { EnqueueDelivery } from '../../jobs/enqueue-delivery.js';
import { DEFAULT_LOCALE } from '../../language/translate.js';
import { capital } from '../../language/write.js';
import type { Logger } from '../../process/logger.js';
import type { BriefMail } from '../../schemas/brief.js';
import type { Message } from '../../schemas/message.js';
import type { CameraStore } from '../../stores/cameras/cameras.js';
import type { ChangeStore } from '../../stores/changes/changes.js';
import type { EndpointRecord, EndpointStore } from '../../stores/delivery/endpoints.js';

/** Instead of the id of an API key, because no request asked for it. */
const BRIEF = 'brief';
/** A brief that is later than this is not sent: the workers were away. */
const LATE_MS = 12 * HOUR_MS;
const MOST_PICTURES = 6;
const CAMERAS_AT_ONCE = 100;

interface BriefMailDependencies extends Omit<BriefDependencies, 'urlOf' | 'cameras'> {
  readonly cameras: Pick<CameraStore, 'get' | 'state' | 'list'>;
  readonly changes: Pick<ChangeStore, 'saveMessage'>;
  readonly endpoints: Pick<EndpointStore, 'all' | 'noteBrief'>;
  readonly enqueueDelivery: Pick<EnqueueDelivery, 'ofAlert'>;
  readonly logger: Logger;
}

/** @returns a function that makes the briefs that are due, and returns their number */
export function createBriefMails(deps: BriefMailDependencies) {
  const briefOf = createBriefs({ ...deps, urlOf: (id) => id });

  const camerasOf = async ({ settings: { cameras: patterns, brief } }: EndpointRecord): Promise<StoredCamera[]> => {
    const label = brief?.label ?? null;
    const found: StoredCamera[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await deps.cameras.list({ limit: CAMERAS_AT_ONCE, ...(cursor === undefined ? {} : { cursor }) });
      const isWanted = ({ id, settings }: StoredCamera) =>
        (patterns.length === 0 || patterns.some((pattern) => matchesCamera(pattern, id))) &&
        (label === null || settings.labels.includes(label));
      found.push(...page.items.filter(isWanted));
      cursor = page.nextCursor;
    }
    return found;
  };

  const messageOf = async (endpoint: EndpointRecord, day: Day): Promise<Message> => {
    const locale = endpoint.settings.locale ?? DEFAULT_LOCALE;
    const parts: CameraPart[] = [];
    // One after the other, because each may be hundreds of changes.
    for (const camera of await camerasOf(endpoint)) {
      parts.push(await briefOf(camera, day, { mostRead: MOST_READ.among_others, locale }));
    }
    const highlights = highlightsOf(parts, locale);
    const shown = highlights.slice(0, MOST_PICTURES).sort((a, b) => a.at - b.at);
    const brief: BriefMail = {
      day: day.name,
      cameras: parts.length,
      pictures: shown.map(({ picture, text, id }) => ({
        shown: picture,
        text: capital(text, locale),
        path: `/review/${id}`,
      })),
    };
    return {
      id: derivedId('alr', day.until, `brief.daily/${endpoint.id}`),
      type: 'brief.daily',
      camera: '',
      at: day.until,
      subject: { kind: 'endpoint', id: endpoint.id },
      kind: 'brief',
      severity: 'info',
      since: isoTime(day.from),
      caption: paragraphOf(parts, highlights, locale),
      zone: null,
      picture: null,
      path: '/review',
      data: { brief },
    };
  };

  return async (): Promise<number> => {
    let sent = 0;
    for (const endpoint of await deps.endpoints.all()) {
      const { brief, enabled } = endpoint.settings;
      if (brief === null || !enabled || endpoint.stopped !== null) continue;
      const now = deps.clock();
      const day = dayUntil(brief.hour, brief.time_zone, now);
      // An endpoint that is new begins with the next one.
      const done = endpoint.briefUntil ?? Date.parse(endpoint.updated_at);
      if (day.until <= done || now - day.until > LATE_MS) continue;
      const message = await messageOf(endpoint, day);
      const traceId = newTraceId();
      const stored = { message, endpoint: endpoint.id, comparisonId: '', url: null, traceId, apiKeyId: BRIEF };
      await deps.changes.saveMessage(stored);
      await deps.enqueueDelivery.ofAlert(stored);
      await deps.endpoints.noteBrief(endpoint.id, day.until);
      deps.logger.info({ endpoint_id: endpoint.id, until: isoTime(day.until) }, 'brief made for a mail');
      sent += 1;
    }
    return sent;
  };
}
