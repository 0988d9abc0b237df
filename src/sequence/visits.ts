/** The visits of a camera in the fold of its frames: their facts, from the evidence. Pure. */

import type { StoredCamera } from '../cameras/camera.js';
import type { Box } from '../images.js';
import type { ChangeUpdate } from '../schemas/change.js';
import type { Finding } from '../schemas/comparison.js';
import type { VisitEvent } from '../schemas/visit.js';
import { viewOf, visitThings } from '../visits/facts.js';
import { foldVisits } from '../visits/fold.js';
import { linkObjects } from '../visits/links.js';
import { initialVisitsState, type VisitsState } from '../visits/state.js';
import type { FrameEvidence } from './evidence.js';
import type { CameraState } from './state.js';

interface FrameOfCamera {
  readonly camera: Pick<StoredCamera, 'id' | 'settings'>;
  /** capture time, epoch ms */
  readonly at: number;
  readonly comparisonId: string;
}

interface FoldedParts {
  /** that counts by threshold, zones and areas */
  readonly finding: Finding | null;
  readonly absorbed: readonly Box[];
  /** the baseline began again with this frame */
  readonly restart: boolean;
  readonly updates: readonly ChangeUpdate[];
}

export function foldVisitsOf(
  previous: CameraState,
  { baseline, examined, finding: found, seen }: FrameEvidence,
  { camera, at, comparisonId }: FrameOfCamera,
  { finding, absorbed, restart, updates }: FoldedParts,
): { readonly state: VisitsState; readonly events: readonly VisitEvent[] } {
  const { before } = baseline;
  const size = previous.size;
  const view = viewOf(finding, examined);
  const folded = foldVisits(
    previous.visits ?? initialVisitsState(),
    {
      ...{ at, camera: camera.id, comparison: comparisonId, number: previous.frames, absorbed, restart, view },
      before: before === null ? null : { key: before.frame.sha256, at: before.at },
      aspect: size === null ? 1 : size.width / size.height,
      things: view === 'shows' && finding !== null ? visitThings(finding, found?.regions ?? [], seen) : [],
    },
    { gapMs: camera.settings.gap_s * 1000 },
  );
  const linked = linkObjects(folded.state, updates);
  return { state: linked.state, events: [...folded.events, ...linked.events] };
}
