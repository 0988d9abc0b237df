/** The page "System": readiness, workers, models, queues, and the time that comparisons take. */
import { useSignal } from '@preact/signals';
import { ApiError, api, ok } from '../api/client.js';
import { addressOf } from '../api/root.js';
import type { Comparison, ServedModel } from '../api/types.js';
import { session } from '../session.js';
import '../styles/system.css';
import { t } from '../texts/texts.js';
import { usePolling } from '../ui/polling.js';
import { latencyOf, type StageTime } from './latency.js';

const AGAIN_MS = 5_000;
/** From which the difference of the clocks is shown, s. */
const NOTABLE_S = 60;

interface Ready {
  readonly ready: boolean;
  readonly redis: boolean;
  readonly workers: number;
  readonly disk_full: boolean;
  readonly clock_offset_s: number;
}
type Queues = Readonly<Record<string, Readonly<Record<string, number>>>>;
interface SystemState {
  readonly ready: Ready;
  readonly models: readonly ServedModel[];
  /** a text: why they cannot be read */
  readonly queues: Queues | string;
  readonly recent: readonly Comparison[];
}

async function readSystem(): Promise<SystemState> {
  const [ready, models, queues, recent] = await Promise.all([
    fetch(addressOf('/readyz')).then((answer) => answer.json() as Promise<Ready>),
    ok(api.GET('/v1/models')),
    ok(api.GET('/internal/scale')).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 403) return error.message;
      throw error;
    }),
    ok(api.GET('/v1/comparisons', { params: { query: { limit: 100 } } })),
  ]);
  return { ready, models: models.items, queues: queues as Queues | string, recent: recent.items };
}

export function SystemPage() {
  const state = useSignal<SystemState | null>(null);
  const fault = usePolling(
    async () => {
      state.value = await readSystem();
    },
    () => AGAIN_MS,
  );
  return (
    <div class="system">
      <h1>{t('System')}</h1>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {state.value === null ? fault.value === '' && <p class="quiet">{t('Reading …')}</p> : <Panels {...state.value} />}
    </div>
  );
}

function Panels({ ready, models, queues, recent }: SystemState) {
  return (
    <>
      <section aria-label={t('Service')}>
        <h2>{t('Service')}</h2>
        <dl class="figures">
          <Item name={t('State')}>{ready.ready ? t('ready') : t('not ready')}</Item>
          <Item name="Redis">{ready.redis ? t('answers') : t('does not answer')}</Item>
          {ready.disk_full && <Item name={t('Disk')}>{t('full: nothing can be stored')}</Item>}
          {Math.abs(ready.clock_offset_s) >= NOTABLE_S && (
            <Item name={t('Clock')}>{offsetText(ready.clock_offset_s)}</Item>
          )}
          <Item name={t('Workers with models')}>{ready.workers}</Item>
          <Item name={t('Version')}>{session.value?.version}</Item>
        </dl>
      </section>
      <section aria-label={t('Models')}>
        <h2>{t('Models')}</h2>
        {models.length === 0 ? (
          <p class="quiet">{t('No live worker has loaded a model.')}</p>
        ) : (
          <table>
            <thead>
              <tr>
                <th scope="col">{t('Model')}</th>
                <th scope="col">{t('Version')}</th>
                <th scope="col">{t('Served by')}</th>
              </tr>
            </thead>
            <tbody>
              {models.map(({ name, version, sha256, served_by }) => (
                <tr key={sha256}>
                  <td>{name}</td>
                  <td>{version}</td>
                  <td>{served_by.map(({ provider, workers }) => `${workers} × ${provider}`).join(', ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      <section aria-label={t('Queues')}>
        <h2>{t('Queues')}</h2>
        {typeof queues === 'string' ? <p class="quiet">{queues}</p> : <QueueTable queues={queues} />}
      </section>
      <section aria-label={t('Latency')}>
        <h2>{t('Latency of the last comparisons')}</h2>
        <Latency times={latencyOf(recent)} />
      </section>
    </>
  );
}

/** @param offset seconds that the clock of a host is ahead of that of Redis */
const offsetText = (offset: number): string =>
  offset > 0
    ? t('{n} s ahead of that of Redis, which counts', { n: offset })
    : t('{n} s behind that of Redis, which counts', { n: -offset });

function Item({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const COLUMNS = ['waiting', 'prioritized', 'delayed', 'active'] as const;

function QueueTable({ queues }: { readonly queues: Queues }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{t('Queue')}</th>
          {COLUMNS.map((name) => (
            <th key={name} scope="col" class="number">
              {t(name)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {Object.entries(queues).map(([name, counts]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {COLUMNS.map((column) => (
              <td key={column} class="number">
                {counts[column]}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Median and 95th percentile per stage; the bars share one scale. */
function Latency({ times }: { readonly times: readonly StageTime[] }) {
  const most = Math.max(...times.map(({ p95 }) => p95), 1);
  if (times.length === 0) return <p class="quiet">{t('No finished comparison yet.')}</p>;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{t('Stage')}</th>
          <th scope="col" class="number">
            {t('median')}
          </th>
          <th scope="col" class="number">
            95 %
          </th>
          <td />
        </tr>
      </thead>
      <tbody>
        {times.map(({ stage, median, p95 }) => (
          <tr key={stage}>
            <th scope="row">{stage}</th>
            <td class="number">{Math.round(median)} ms</td>
            <td class="number">{Math.round(p95)} ms</td>
            <td class="bars">
              <span class="latency-bar" style={{ width: `${(100 * p95) / most}%` }} />
              <span class="latency-bar strong" style={{ width: `${(100 * median) / most}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
