/** The named components of the OpenAPI file, in its order. */
import { type TSchema, Type } from 'typebox';
import * as schedule from '../../camera/settings/schedule.js';
import * as settings from '../../camera/settings/settings.js';
import * as receivers from '../../endpoints/settings.js';
import * as answers from '../../schemas/ask.js';
import * as batch from '../../schemas/batch.js';
import * as box from '../../schemas/box.js';
import * as brief from '../../schemas/brief.js';
import * as cameraFrame from '../../schemas/camera-frame.js';
import * as change from '../../schemas/change.js';
import * as check from '../../schemas/check.js';
import * as comparison from '../../schemas/comparison.js';
import * as delivery from '../../schemas/delivery.js';
import { FeedbackSchema } from '../../schemas/feedback.js';
import * as loss from '../../schemas/loss.js';
import * as place from '../../schemas/place-search.js';
import { ProblemSchema } from '../../schemas/problem.js';
import * as snapshot from '../../schemas/snapshot-test.js';
import * as events from '../../schemas/stream-event.js';
import { TrendSchema } from '../../schemas/trend.js';
import * as viewpoint from '../../schemas/viewpoint.js';
import * as visit from '../../schemas/visit.js';
import * as payloads from '../../schemas/webhook-payload.js';
import * as models from '../intake/models.js';
import * as batches from './batches.js';
import * as camera from './camera.js';
import * as cameraAnswers from './camera-answers.js';
import * as search from './change-search.js';
import * as changes from './changes.js';
import * as ask from './comparison-request.js';
import * as frames from './comparison-request.js';
import * as dryRun from './dry-run.js';
import * as endpoints from './endpoints.js';
import { EvidenceUploadRequestSchema, EvidenceUploadSchema } from './evidence.js';

const ComparisonProblemSchema = Type.Object(
  { ...ProblemSchema.properties, comparison: Type.Optional(comparison.ComparisonSchema) },
  { $id: 'ComparisonProblem', description: 'RFC 9457 problem details, and the comparison that they concern.' },
);

const COMPONENTS: readonly TSchema[] = [
  ...[box.BoxSchema, comparison.RegionSchema, comparison.WordSchema, comparison.ModelUsedSchema],
  ...[comparison.TimingsSchema, comparison.NuisanceSchema, loss.TamperSchema, loss.LostSchema],
  ...[viewpoint.ViewpointSchema, check.SentenceFactsSchema, check.CheckSchema, answers.AskAnswerSchema],
  ...[ProblemSchema, comparison.ComparisonSchema, ComparisonProblemSchema],
  ...[...frames.FRAME_FORMS, frames.FrameInputSchema, camera.StoredFrameSchema, camera.PictureSchema],
  ...[frames.ComparisonRequestSchema, frames.ComparisonFormSchema, cameraFrame.PendingChangeSchema],
  ...[cameraFrame.CameraFrameSchema, settings.ZoneSchema, schedule.ScheduleSchema],
  ...[camera.CameraRequestSchema, camera.CameraPatchSchema, camera.CamerasPatchSchema],
  camera.SnapshotTestRequestSchema,
  ...[snapshot.SnapshotTestSchema, cameraAnswers.FalseAlarmBudgetSchema, cameraAnswers.CameraSchema],
  ...[cameraAnswers.CameraStatusSchema, cameraAnswers.CameraOverviewSchema, dryRun.CameraDryRunSchema],
  ...[camera.CameraFrameRequestSchema, camera.CameraFrameFormSchema, camera.BaselineRequestSchema],
  ...[camera.BaselineFormSchema, cameraAnswers.BaselineOrderSchema, delivery.DeliverySchema],
  ...[batches.BatchOptionsSchema, batches.BatchRequestSchema, batches.BatchFormSchema],
  ...[batch.BatchCameraSchema, batch.BatchFailureSchema, batch.BatchSchema, place.PlaceIntervalSchema],
  ...[place.PlaceSearchSchema, models.ServedModelSchema, events.StreamEventSchema, events.SubjectSchema],
  ...[change.ChangeRegionSchema, FeedbackSchema],
  ...[changes.FeedbackRequestSchema, changes.BulkFeedbackRequestSchema],
  ...[ask.AskRequestSchema, change.ChangeSchema, brief.BriefChangeSchema, brief.BriefGroupSchema],
  ...[brief.BriefListSchema, brief.BriefVisitsSchema, brief.UnseenSchema, brief.NotSeenSchema],
  ...[brief.CameraBriefSchema, brief.BriefSchema, ...search.SEARCH_COMPONENTS],
  ...[visit.VisitSchema, TrendSchema],
  ...[receivers.EndpointRequestSchema, receivers.EndpointPatchSchema, endpoints.EndpointSchema],
  ...[EvidenceUploadRequestSchema, EvidenceUploadSchema],
  ...[endpoints.EndpointCreatedSchema, endpoints.RotateRequestSchema, endpoints.RotatedSchema],
  ...[endpoints.RecoverRequestSchema, endpoints.RecoveredSchema, payloads.WebhookPayloadSchema],
  ...[
    payloads.AlertPayloadSchema,
    payloads.VisitPayloadSchema,
    payloads.SignalPayloadSchema,
    payloads.DigestPayloadSchema,
  ],
];

/** @returns the name of a component; undefined of another schema */
const idOf = (schema: TSchema) => (schema as { $id?: string }).$id;

/** The named components, those nested in others included; each nested one is replaced by a reference. */
export function components(): TSchema[] {
  const named = new Map<string, TSchema>();
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const id = Array.isArray(node) ? undefined : idOf(node as TSchema);
    if (id !== undefined && !named.has(id)) named.set(id, node as TSchema);
    Object.values(node).forEach(collect);
  };
  for (const schema of COMPONENTS) named.set(idOf(schema) as string, schema);
  COMPONENTS.forEach(collect);
  return [...named.values()].map((schema) => referencing(schema, idOf(schema)));
}

function referencing<T>(node: T, self: string | undefined): T {
  if (Array.isArray(node)) return node.map((item) => referencing(item, self)) as T;
  if (typeof node !== 'object' || node === null) return node;
  const id = idOf(node as TSchema);
  if (id !== undefined && id !== self) return { $ref: `${id}#` } as T;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, referencing(value, self)])) as T;
}
