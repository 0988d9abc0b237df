/** A camera that shows nothing of its scene, and its return, as messages to receivers. Pure. */
import { derivedId } from '../../base/ids.js';
import { phrased } from '../../language/phrase.js';
import { tamperStatement } from '../../language/plain.js';
import { DEFAULT_LOCALE, sentenceIn } from '../../language/translate.js';
import { write } from '../../language/write.js';
import type { CameraSignal } from '../../schemas/camera-signal.js';
import { cameraSubject, endsSubject, type Message, type SignalEvent } from '../../schemas/message.js';
import type { CameraHealthEvent, Said } from '../../schemas/stream-event.js';
import type { CameraSettings } from './settings.js';

/** @param at capture time, epoch ms */
export function healthMessage({ type, camera, reason, since, share }: CameraHealthEvent, at: number): Message {
  const known = { cameras: [camera], reason, since, detail: null };
  return signalMessage(type, at, share === undefined ? known : { ...known, share });
}

/** @returns the sentence of the message for the event stream */
export function saidOf(
  { caption, content = {}, phrase, since, camera }: Message,
  { name, locale, schedule }: Pick<CameraSettings, 'name' | 'locale' | 'schedule'>,
): Said {
  const given = { since, ...(phrase !== undefined && { phrase }) };
  const wording = { cameraName: name ?? camera, timeZone: schedule?.timezone ?? 'UTC' };
  const language = locale ?? DEFAULT_LOCALE;
  return {
    caption: phrased({ ...given, caption }, { ...wording, locale: DEFAULT_LOCALE }),
    sentence: phrased({ ...given, caption: sentenceIn(caption, content, language) }, { ...wording, locale: language }),
  };
}

/**
 * @param at epoch ms; together with the type and the first camera it determines the id of the message
 * @param of.cameras at least one: the first one is the subject, under which a receiver closes what it has opened
 * @param of.since RFC 3339
 */
export function signalMessage(
  type: SignalEvent,
  at: number,
  of: {
    readonly cameras: readonly string[];
    readonly reason: CameraSignal['reason'];
    readonly since: string;
    readonly detail: string | null;
    /** of a covered lens */
    readonly share?: number;
  },
): Message {
  const { cameras, reason, since, detail, share } = of;
  const [camera = ''] = cameras;
  const content = tamperStatement(reason);
  const caption = write(content);
  const signal: CameraSignal = {
    camera,
    cameras: [...cameras],
    reason,
    detail,
    since,
    ...(share !== undefined && { share }),
    caption,
    content,
  };
  const several = cameras.length > 1;
  return {
    id: derivedId('alr', at, `${type}/${camera}`),
    type,
    camera,
    ...(several && { cameras }),
    at,
    subject: cameraSubject(camera),
    kind: reason,
    severity: 'medium',
    since,
    caption,
    content,
    ...phraseOf(type, { cameras: cameras.length, reason, share }),
    zone: null,
    picture: null,
    path: several ? '/cameras' : `/cameras/${camera}`,
    data: { signal },
  };
}

/** The sentence to receivers, for a text of the language tables; nothing: the caption alone. */
function phraseOf(
  type: SignalEvent,
  { cameras, reason, share = 0 }: { cameras: number; reason: CameraSignal['reason']; share: number | undefined },
): Pick<Message, 'phrase'> {
  if (type === 'camera.lens_covered') return { phrase: { key: 'lens_covered', n: Math.round(100 * share) } };
  if (type === 'camera.lens_clear') return { phrase: { key: 'lens_clear' } };
  const several = cameras > 1;
  if (endsSubject(type)) return { phrase: { key: several ? 'signals_back' : 'signal_back', n: cameras } };
  return several ? { phrase: { key: `cameras_${reason}`, n: cameras } } : {};
}
