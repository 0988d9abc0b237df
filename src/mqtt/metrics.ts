/** Prometheus metrics of the MQTT publisher. */
import { createMetrics } from '../process/metrics.js';

export type MessageKind = 'alert' | 'visit' | 'picture' | 'state';
/** failed: the connection was lost before the broker confirmed it, and it is sent again. */
type MessageOutcome = 'sent' | 'refused' | 'failed';

export type MqttMetrics = ReturnType<typeof createMqttMetrics>;

export function createMqttMetrics() {
  const { registry, counter, gauge } = createMetrics();
  const connected = gauge('scenedelta_mqtt_connected', '1 while the publisher is connected to the broker.');
  const failures = counter(
    'scenedelta_mqtt_connection_failures_total',
    'Connections that failed or were lost, by reason: login, tls, unreachable, replaced, lost.',
    'reason',
  );
  const messages = counter(
    'scenedelta_mqtt_messages_total',
    'Messages by kind (alert, visit, picture, state) and outcome (sent, refused by the broker, failed: sent again).',
    'kind',
    'outcome',
  );
  const waiting = gauge(
    'scenedelta_mqtt_events_waiting',
    'Events of changes, alerts and visits that wait for the broker.',
  );
  const dropped = counter(
    'scenedelta_mqtt_events_dropped_total',
    'Events of changes, alerts and visits that were lost, because too many waited or the event stream no longer had them.',
  );
  return {
    registry,
    message: (kind: MessageKind, outcome: MessageOutcome): void => messages.inc({ kind, outcome }),
    connected: (is: boolean): void => connected.set(is ? 1 : 0),
    connectionFailed: (reason: string): void => failures.inc({ reason }),
    waiting: (events: number): void => waiting.set(events),
    dropped: (events: number): void => dropped.inc(events),
  };
}
