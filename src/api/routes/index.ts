/** The routes of the API, in the order of its description (openapi.yaml). */
import { askRoutes } from './ask.js';
import { batchPictureRoutes, batchResultRoutes } from './batch-results.js';
import { batchRoutes } from './batches.js';
import { briefRoutes } from './brief.js';
import { cameraBaselineRoutes } from './camera-baseline.js';
import { cameraDryRunRoutes } from './camera-dry-run.js';
import { cameraSettingsRoutes } from './camera-settings.js';
import { cameraSnapshotRoutes } from './camera-snapshot.js';
import { cameraRoutes } from './cameras.js';
import { changeCountRoutes } from './change-counts.js';
import { changePictureRoutes } from './change-picture.js';
import { changeRoutes } from './changes.js';
import { comparisonRoutes } from './comparisons.js';
import type { Routes } from './context.js';
import { deliveryRoutes } from './deliveries.js';
import { endpointDeliveryRoutes } from './endpoint-deliveries.js';
import { endpointRoutes } from './endpoints.js';
import { eventRoutes, eventTokenRoutes } from './events.js';
import { evidenceRoutes } from './evidence.js';
import { feedbackRoutes } from './feedback.js';
import { frameRoutes } from './frames.js';
import { heatmapRoutes } from './heatmaps.js';
import { modelRoutes } from './models.js';
import { operationRoutes } from './operations.js';
import { sessionRoutes } from './sessions.js';
import { shareRoutes } from './share.js';
import { trendRoutes } from './trends.js';
import { visitRoutes } from './visits.js';

export const ROUTES: readonly Routes[] = [
  comparisonRoutes,
  askRoutes,
  cameraRoutes,
  cameraSettingsRoutes,
  cameraSnapshotRoutes,
  cameraBaselineRoutes,
  cameraDryRunRoutes,
  batchRoutes,
  batchPictureRoutes,
  batchResultRoutes,
  frameRoutes,
  heatmapRoutes,
  deliveryRoutes,
  endpointRoutes,
  endpointDeliveryRoutes,
  changeRoutes,
  changePictureRoutes,
  shareRoutes,
  feedbackRoutes,
  changeCountRoutes,
  trendRoutes,
  visitRoutes,
  briefRoutes,
  evidenceRoutes,
  eventRoutes,
  eventTokenRoutes,
  sessionRoutes,
  modelRoutes,
  operationRoutes,
];
