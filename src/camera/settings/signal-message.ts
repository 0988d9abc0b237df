/** A camera that shows nothing of its scene, and its return, as messages to receivers. Pure. */
import { derivedId } from '../../base/ids.js';
import { tamperStatement } from '../../language/plain.js';
import { write } from '../../language/write.js';
import type { CameraSignal, SIGNAL_EVENTS } from '../../schemas/camera-signal.js';
import type { SignalReason, Standstill } from '../../schemas/loss.js';
import { cameraSubject, endsSubject, type Message } from '../../schemas/message.js';
import type { CameraHealthEvent } from '../../schemas/stream-event.js';

/** @param at capture time, epoch ms */
export function healthMessage({ type, camera, reason, since }: CameraHealthEvent, at: number): Message {
  return signalMessage(type, at, { cameras: [camera], reason, since, detail: null });
}

/**
 * @param at epoch ms; together with the type and the first camera it determines the id of the message
 * @param of.cameras at least one: the first one is the subject, under which a receiver closes what it has opened
 * @param of.since RFC 3339
 */
export function signalMessage(
  type: (typeof SIGNAL_EVENTS)[number],
  at: number,
  of: {
    readonly cameras: readonly string[];
    readonly reason: SignalReason | Standstill;
    readonly since: string;
    readonly detail: string | null;
  },
): Message {
  const { cameras, reason, since, detail } = of;
  const [camera = ''] = cameras;
  const content = tamperStatement(reason);
  const caption = write(content);
  const signal: CameraSignal = { camera, cameras: [...cameras], reason, detail, since, caption, content };
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
    ...(endsSubject(type)
      ? { phrase: { key: several ? 'signals_back' : 'signal_back', n: cameras.length } }
      : several && { phrase: { key: `cameras_${reason}`, n: cameras.length } }),
    zone: null,
    picture: null,
    path: several ? '/cameras' : `/cameras/${camera}`,
    data: { signal },
  };
}
