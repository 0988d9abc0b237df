/** The message of a brief by mail: the paragraph of a day, and its pictures. Loaded with the first that is due. */
import { derivedId } from '../../base/ids.js';
import { isoTime } from '../../base/wall-clock.js';
import { type BriefDependencies, createBriefs, MOST_READ } from '../../brief/camera-brief.js';
import type { Day } from '../../brief/day.js';
import { type CameraPart, highlightsOf, paragraphOf } from '../../brief/summary.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import { matchesCamera } from '../../camera/settings/id-pattern.js';
import { DEFAULT_LOCALE } from '../../language/translate.js';
import { capital } from '../../language/write.js';
import type { BriefMail } from '../../schemas/brief.js';
import type { Message } from '../../schemas/message.js';
import type { CameraStore } from '../../stores/cameras/cameras.js';
import type { EndpointRecord } from '../../stores/delivery/endpoints.js';

const MOST_PICTURES = 6;
const CAMERAS_AT_ONCE = 100;

export interface BriefMessageDependencies extends Omit<BriefDependencies, 'urlOf' | 'cameras'> {
  readonly cameras: Pick<CameraStore, 'get' | 'state' | 'list'>;
}

export async function briefMessage(
  endpoint: EndpointRecord,
  day: Day,
  deps: BriefMessageDependencies,
): Promise<Message> {
  const briefOf = createBriefs({ ...deps, urlOf: (id) => id });
  const locale = endpoint.settings.locale ?? DEFAULT_LOCALE;
  const parts: CameraPart[] = [];
  // One after the other, because each may be hundreds of changes.
  for (const camera of await camerasOf(endpoint, deps)) {
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
}

/** The cameras that the endpoint names, with the label of its brief. */
async function camerasOf(
  { settings: { cameras: patterns, brief } }: EndpointRecord,
  { cameras }: BriefMessageDependencies,
): Promise<StoredCamera[]> {
  const label = brief?.label ?? null;
  const found: StoredCamera[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await cameras.list({ limit: CAMERAS_AT_ONCE, ...(cursor === undefined ? {} : { cursor }) });
    const isWanted = ({ id, settings }: StoredCamera) =>
      (patterns.length === 0 || patterns.some((pattern) => matchesCamera(pattern, id))) &&
      (label === null || settings.labels.includes(label));
    found.push(...page.items.filter(isWanted));
    cursor = page.nextCursor;
  }
  return found;
}
