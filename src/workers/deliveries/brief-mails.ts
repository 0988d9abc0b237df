/**
 * Briefs by mail: once per day for each endpoint that wants one. Its message has an id that follows from endpoint and
 * day, and is noted at the endpoint last, so that a restart at the hour of sending neither doubles nor loses it.
 */
import { HOUR_MS } from '../../base/clock.js';
import { newTraceId } from '../../base/ids.js';
import { isoTime } from '../../base/wall-clock.js';
import { dayUntil } from '../../brief/day.js';
import type { EnqueueDelivery } from '../../jobs/enqueue-delivery.js';
import type { Logger } from '../../process/logger.js';
import type { ChangeStore } from '../../stores/changes/changes.js';
import type { EndpointStore } from '../../stores/delivery/endpoints.js';
import type { BriefMessageDependencies } from './brief-message.js';

/** Instead of the id of an API key, because no request asked for it. */
const BRIEF = 'brief';
/** A brief that is later than this is not sent: the workers were away. */
const LATE_MS = 12 * HOUR_MS;

interface BriefMailDependencies extends BriefMessageDependencies {
  readonly changes: Pick<ChangeStore, 'saveMessage'>;
  readonly endpoints: Pick<EndpointStore, 'all' | 'noteBrief'>;
  readonly enqueueDelivery: Pick<EnqueueDelivery, 'ofAlert'>;
  readonly logger: Logger;
}

/** @returns a function that makes the briefs that are due, and returns their number */
export function createBriefMails(deps: BriefMailDependencies) {
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
      const { briefMessage } = await import('./brief-message.js');
      const message = await briefMessage(endpoint, day, deps);
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
