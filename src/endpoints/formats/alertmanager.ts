/**
 * The API v2 of Prometheus Alertmanager: one alert per change and severity. It fires when the change is alerted, and is
 * resolved when the change has reverted or a person has acknowledged it.
 */
import { compareSeverity, SEVERITIES, type Severity } from '../../schemas/kinds.js';
import { endsSubject } from '../../schemas/message.js';
import { type EndpointMessage, type Format, jsonRequest, linkOf, pictureOf, textOf, titleOf } from '../message.js';

const PATH = '/api/v2/alerts';
/** Alertmanager resolves an alert at its `endsAt`, so that one whose end is never seen does not fire without end. */
const LONGEST_FIRING_MS = 24 * 3_600_000;
/** A test event fires for so long. */
const TEST_FIRING_MS = 60_000;

export const alertmanager: Format = (message, { url }) => jsonRequest(withPath(url), alertsOf(message));

/** @param url the server's address, with or without the path of the API */
function withPath(url: string): string {
  const address = new URL(url);
  const path = address.pathname.replace(/\/+$/, '');
  address.pathname = path.endsWith(PATH) ? path : path + PATH;
  return address.href;
}

/**
 * The severity is a label, by which people route, and labels identify an alert: one that becomes more severe is another
 * alert. The alerts of all lower severities are resolved with it, because an earlier request may have been lost.
 */
function alertsOf(message: EndpointMessage) {
  const { type, severity } = message;
  const lower = SEVERITIES.filter((one) => compareSeverity(one, severity) < 0);
  if (type === 'endpoint.test') return [alertOf(message, severity, message.now + TEST_FIRING_MS)];
  if (endsSubject(type)) return [...lower, severity].map((one) => alertOf(message, one, message.now));
  return [
    alertOf(message, severity, message.now + LONGEST_FIRING_MS),
    ...(type === 'change.escalated' ? lower.map((one) => alertOf(message, one, message.now)) : []),
  ];
}

const nameOf = (type: EndpointMessage['type']): string =>
  type === 'endpoint.test' ? 'SceneChangeTest' : type.startsWith('camera.') ? 'CameraSignalLost' : 'SceneChange';

/** @param endsAt epoch ms by the clock of the service: the camera's clock may be ahead of Alertmanager's */
function alertOf(message: EndpointMessage, severity: Severity, endsAt: number) {
  const { subject, camera, zone, kind, since } = message;
  const picture = pictureOf(message);
  const startsAt = Math.min(Date.parse(since), message.now);
  return {
    labels: {
      alertname: nameOf(message.type),
      camera,
      change: subject.id,
      kind,
      severity,
      ...(zone === null ? {} : { zone }),
    },
    annotations: {
      summary: titleOf(message),
      description: textOf(message),
      ...(picture === undefined ? {} : { picture }),
    },
    startsAt: new Date(startsAt).toISOString(),
    endsAt: new Date(endsAt).toISOString(),
    generatorURL: linkOf(message),
  };
}
