/** The answer of the daily brief: JSON, Markdown, or a page with pictures. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fillTemplate, readTemplate } from '../../base/document-template.js';
import { invalidValue, type ScenedeltaError } from '../../base/errors.js';
import { createBriefs, MOST_READ } from '../../brief/camera-brief.js';
import { dayOf } from '../../brief/day.js';
import { briefData, briefMarkdown } from '../../brief/documents.js';
import { createCrops } from '../../brief/pictures.js';
import { type CameraPart, type Highlight, highlightsOf, paragraphOf } from '../../brief/summary.js';
import { cameraText } from '../../brief/wording.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import type { Locale } from '../../language/locales.js';
import { DEFAULT_LOCALE } from '../../language/translate.js';
import { capital } from '../../language/write.js';
import type { Brief } from '../../schemas/brief.js';
import type { BriefPicture } from '../../schemas/documents.js';
import { askedCameras } from '../cameras/asked.js';
import { assertZone } from '../parse-time.js';
import type { RouteContext } from '../routes/context.js';
import type { BriefFormat, BriefQuery } from '../schemas/brief.js';
import { pageBody } from '../schemas/pages.js';

const MOST_PICTURES = 12;

/** @throws ScenedeltaError 'not-found', 'invalid-value' */
export async function answerBrief(
  request: FastifyRequest<{ Querystring: BriefQuery }>,
  reply: FastifyReply,
  deps: RouteContext,
): Promise<Brief | FastifyReply> {
  const { baseUrl } = deps;
  const urlOf = (id: string) => `${baseUrl()}/v1/${id.startsWith('vis_') ? 'visits' : 'changes'}/${id}`;
  const pageOf = (id: string) => (deps.consoleFolder === null ? urlOf(id) : `${baseUrl()}/review/${id}`);

  const briefOf = createBriefs({ ...deps, urlOf });
  const crop = createCrops({ ...deps, decodeLimits: deps.options });
  const picturesOf = async (highlights: readonly Highlight[], locale: Locale): Promise<BriefPicture[]> => {
    const pictures: BriefPicture[] = [];
    // One after the other, because each decodes a frame.
    for (const { picture, text, id } of highlights.slice(0, MOST_PICTURES).sort((a, b) => a.at - b.at)) {
      const jpeg = await crop(picture);
      if (jpeg === undefined) continue;
      pictures.push({ jpeg: jpeg.toString('base64'), text: capital(text, locale), url: pageOf(id) });
    }
    return pictures;
  };

  const { day = 'today', tz } = request.query;
  if (tz !== undefined) assertZone(tz, 'tz');
  const page = await askedCameras(request.query, request.visibility, deps);
  const parts: CameraPart[] = [];
  // One after the other, because each may be thousands of changes.
  const mostRead = request.query.camera === undefined ? MOST_READ.among_others : MOST_READ.alone;
  const localeOf = ({ settings }: StoredCamera) => request.locale ?? settings.locale ?? DEFAULT_LOCALE;
  for (const camera of page.items) {
    const span = dayOf(day, tz ?? camera.settings.schedule?.timezone ?? 'UTC', deps.clock());
    if (span.from > deps.clock()) throw notYet(day, camera.id, span.timezone);
    parts.push(await briefOf(camera, span, { mostRead, locale: localeOf(camera) }));
  }
  const briefs = { items: parts.map(({ brief }) => brief), nextCursor: page.nextCursor };
  const { items, next_cursor } = pageBody(request, reply, briefs);
  const format = request.query.format ?? formatOf(request.headers.accept);
  const [first] = page.items;
  const locale = first === undefined ? (request.locale ?? DEFAULT_LOCALE) : localeOf(first);
  const used = new Set([locale, ...page.items.map(localeOf)]);
  reply.header('Vary', 'Accept, Accept-Language').header('Content-Language', [...used].join(', '));
  const highlights = highlightsOf(parts, locale);
  const summary = paragraphOf(parts, highlights, locale);
  if (format === 'json') return { summary, cameras: items, next_cursor } satisfies Brief;
  const cameras = items.map((brief, i) =>
    cameraText({ brief, locale: localeOf(page.items[i] as StoredCamera), pageOf }),
  );
  const text = { summary, cameras, more: next_cursor !== null, locale };
  if (format === 'markdown') return reply.type('text/markdown; charset=utf-8').send(briefMarkdown(text));
  const template = await readTemplate(deps.documentsFolder, 'brief');
  return reply
    .header('Content-Security-Policy', `${template.policy}; frame-ancestors 'self'`)
    .header('X-Content-Type-Options', 'nosniff')
    .type('text/html; charset=utf-8')
    .send(
      fillTemplate(
        template,
        briefData(text, await picturesOf(highlights, locale), deps.consoleFolder === null ? null : '../review'),
      ),
    );
}

/** A day that has not begun has nothing that is still there. */
const notYet = (day: string, camera: string, timezone: string): ScenedeltaError =>
  invalidValue(
    `day is ${day}, which has not begun for ${camera} (${timezone}): expected today or an earlier day`,
    'day',
  );

const formatOf = (accept = ''): BriefFormat => {
  if (accept.includes('text/html')) return 'html';
  return accept.includes('text/markdown') ? 'markdown' : 'json';
};
