/** The loss of a camera's signal or its return as a message to receivers. Pure. */
import { derivedId } from '../../base/ids.js';
import { tamperStatement } from '../../language/plain.js';
import { write } from '../../language/write.js';
import { type CameraSignal, SIGNAL_EVENTS } from '../../schemas/camera-signal.js';
import { cameraSubject, type Message } from '../../schemas/message.js';
import type { CameraHealthEvent } from '../../schemas/stream-event.js';

/** @param at capture time, epoch ms. @returns null: no receiver can ask for the event */
export function signalMessage({ type: given, camera, reason, since }: CameraHealthEvent, at: number): Message | null {
  const type = SIGNAL_EVENTS.find((one) => one === given);
  if (type === undefined || reason === undefined) return null;
  const content = tamperStatement(reason);
  const caption = write(content);
  const signal: CameraSignal = { camera, reason, since, caption, content };
  return {
    id: derivedId('alr', at, `${type}/${camera}`),
    type,
    camera,
    at,
    subject: cameraSubject(camera),
    kind: reason,
    severity: 'medium',
    since,
    caption,
    content,
    ...(type === 'camera.signal_back' && { phrase: { key: 'signal_back' } }),
    zone: null,
    picture: null,
    path: `/cameras/${camera}`,
    data: { signal },
  };
}
