/** Prometheus metrics of the MQTT publisher. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export type MessageKind = 'alert' | 'visit' | 'picture' | 'state';
/** failed: the connection was lost before the broker confirmed it, and it is sent again. */
type MessageOutcome = 'sent' | 'refused' | 'failed';

export interface MqttMetrics {
  readonly registry: Registry;
  message(kind: MessageKind, outcome: MessageOutcome): void;
  connected(is: boolean): void;
  connectionFailed(reason: string): void;
  waiting(events: number): void;
  dropped(events: number): void;
}

export function createMqttMetrics(): MqttMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const connected = new Gauge({
    name: 'scenedelta_mqtt_connected',
    help: '1 while the publisher is connected to the broker.',
    registers,
  });
  const failures = new Counter({
    name: 'scenedelta_mqtt_connection_failures_total',
    help: 'Connections that failed or were lost, by reason: login, tls, unreachable, replaced, lost.',
    labelNames: ['reason'],
    registers,
  });
  const messages = new Counter({
    name: 'scenedelta_mqtt_messages_total',
    help: 'Messages by kind (alert, visit, picture, state) and outcome (sent, refused by the broker, failed: sent again).',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const waiting = new Gauge({
    name: 'scenedelta_mqtt_events_waiting',
    help: 'Events of changes, alerts and visits that wait for the broker.',
    registers,
  });
  const dropped = new Counter({
    name: 'scenedelta_mqtt_events_dropped_total',
    help: 'Events of changes, alerts and visits that were lost, because too many waited or the event stream no longer had them.',
    registers,
  });
  return {
    registry,
    message: (kind, outcome) => messages.inc({ kind, outcome }),
    connected: (is) => connected.set(is ? 1 : 0),
    connectionFailed: (reason) => failures.inc({ reason }),
    waiting: (events) => waiting.set(events),
    dropped: (events) => dropped.inc(events),
  };
}
