/** The context that routes are made from, and the shape of the functions that add them. */
import type { FrameKeeper } from '../../frames/keep.js';
import type { EnqueueDelivery } from '../../jobs/enqueue-delivery.js';
import type { Present } from '../comparisons/links-presenter.js';
import type { Api, ApiDependencies, ApiOptions } from '../dependencies.js';
import type { EventStreams } from '../event-stream.js';
import type { AnswerOutcome } from '../intake/respond.js';
import type { StartPage } from '../plugins/console.js';
import type { ApiMetrics } from '../plugins/metrics.js';
import type { VisitPages } from '../visits/pages.js';

/** The dependencies and settings of the API, and the parts of a process that several routes share. */
export interface RouteContext extends ApiDependencies {
  readonly options: ApiOptions;
  readonly keeper: FrameKeeper;
  readonly present: Present;
  readonly answerOutcome: AnswerOutcome;
  /** @returns the address of the service, without a slash at the end */
  readonly baseUrl: () => string;
  readonly enqueueDelivery: EnqueueDelivery;
  readonly visitPages: VisitPages;
  readonly streams: EventStreams;
  readonly metrics: ApiMetrics;
  readonly startPage: StartPage;
}

/** Adds the routes of one resource. */
export type Routes = (app: Api, context: RouteContext) => void;
