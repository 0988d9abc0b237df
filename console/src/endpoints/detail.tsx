/** One endpoint: what can be done with it, and its deliveries with their attempts. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { may } from '../access.js';
import { addressOf } from '../api/root.js';
import type { Delivery, Endpoint } from '../api/types.js';
import { t } from '../texts/texts.js';
import { ago, shownTime } from '../ui/format.js';
import { usePolling } from '../ui/polling.js';
import { SureButton } from '../ui/sure-button.js';
import { EndpointForm } from './form.js';
import {
  changeEndpoint,
  deleteEndpoint,
  deliveries,
  nameOf,
  readDeliveries,
  recover,
  resend,
  rotateSecret,
  sendTest,
  setEnabled,
} from './store.js';

const AGAIN_MS = 5_000;
const DAY_HOURS = 24;

export function EndpointDetail({ endpoint }: { readonly endpoint: Endpoint }) {
  const { id } = endpoint;
  return (
    <section class="endpoint" aria-label={t('Endpoint')}>
      <h2 class="clip">{nameOf(endpoint)}</h2>
      <dl class="endpoint-facts">
        {factsOf(endpoint).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="clip">{value}</dd>
          </div>
        ))}
      </dl>
      {may('admin') ? <Managed endpoint={endpoint} /> : <div class="endpoint-row">{erasing(id)}</div>}
    </section>
  );
}

const erasing = (id: string) => (
  <SureButton name={t('Delete')} sure={t('Delete for good')} onSure={() => void deleteEndpoint(id)} />
);

/** The actions of an administrator on an endpoint, and its deliveries. */
function Managed({ endpoint }: { readonly endpoint: Endpoint }) {
  const { id, state } = endpoint;
  const isEditing = useSignal(false);
  useEffect(() => {
    deliveries.value = null;
  }, [id]);
  const readFault = usePolling(
    () => readDeliveries(id),
    () => AGAIN_MS,
    [id],
  );
  const runs = state === 'active' || state === 'failing';
  return (
    <>
      {isEditing.value && (
        <EndpointForm
          endpoint={endpoint}
          onSubmit={async (fields) => {
            if (await changeEndpoint(id, fields)) isEditing.value = false;
          }}
          onCancel={() => {
            isEditing.value = false;
          }}
        />
      )}
      <div class="endpoint-row">
        <button
          type="button"
          aria-expanded={isEditing.value}
          onClick={() => {
            isEditing.value = !isEditing.value;
          }}
        >
          {t('Edit')}
        </button>
        <button type="button" onClick={() => sendTest(id)} disabled={!runs}>
          {t('Send a test event')}
        </button>
        {endpoint.secrets > 0 && (
          <button type="button" onClick={() => rotateSecret(id)}>
            {t('Rotate the secret')}
          </button>
        )}
        <button type="button" onClick={() => recover(id, DAY_HOURS)} disabled={!runs}>
          {t('Recover the last day')}
        </button>
        <button type="button" onClick={() => setEnabled(id, !runs)}>
          {runs ? t('Disable') : t('Start')}
        </button>
        {erasing(id)}
      </div>
      <h3>{t('Deliveries')}</h3>
      <p class="fault" role="alert">
        {readFault.value}
      </p>
      <Deliveries endpoint={id} />
    </>
  );
}

/** Names and values; a filter is shown only if it is set. */
function factsOf(endpoint: Endpoint): (readonly [string, string])[] {
  const { cameras, zones, kinds, min_severity, text, limit, brief, held_back, previous_secret_until } = endpoint;
  const list = (name: string, values: readonly string[]) =>
    values.length === 0 ? [] : [[name, values.join(', ')] as const];
  return [
    [t('Address'), endpoint.url],
    [t('Format'), endpoint.format],
    [t('Events'), endpoint.events.map((event) => event.replace('change.', '')).join(', ')],
    ...list(t('Cameras'), cameras),
    ...list(t('Zones'), zones),
    ...list(
      t('Kinds'),
      kinds.map((kind) => t(kind)),
    ),
    ...(min_severity === 'info' ? [] : [[t('At least'), t(min_severity)] as const]),
    ...(text === null ? [] : [[t('Words'), text] as const]),
    ...(limit === null
      ? []
      : [
          [
            t('Most messages about one camera'),
            `${limit.messages} / ${limit.minutes} min (${t('{n} held back', { n: held_back })})`,
          ] as const,
        ]),
    ...(brief === null
      ? []
      : [
          [
            t('The brief of the last 24 hours, once a day'),
            [`${String(brief.hour).padStart(2, '0')}:00 ${brief.time_zone}`, brief.label ?? '']
              .filter(Boolean)
              .join(', '),
          ] as const,
        ]),
    ...(previous_secret_until === null
      ? []
      : [[t('Earlier secret valid until'), shownTime(previous_secret_until)] as const]),
  ];
}

function Deliveries({ endpoint }: { readonly endpoint: string }) {
  const all = deliveries.value;
  if (all === null) return <p class="quiet">{t('Reading …')}</p>;
  if (all.length === 0) return <p class="quiet">{t('Nothing was sent to it yet.')}</p>;
  return (
    <ul class="delivery-list">
      {all.map((delivery) => (
        <li key={delivery.id}>
          <details>
            <summary>
              <span class={`state ${delivery.state}`}>{t(delivery.state)}</span>{' '}
              <span>{(delivery.event ?? '').replace('change.', '')}</span>{' '}
              <span class="quiet">{summaryOf(delivery)}</span>
            </summary>
            <Attempts delivery={delivery} />
            <p class="endpoint-row">
              <button type="button" onClick={() => resend(delivery.id, endpoint)}>
                {t('Send again')}
              </button>
              {delivery.subject?.kind === 'change' && (
                <a href={addressOf(`/review/${delivery.subject.id}`)}>{t('Show the change')}</a>
              )}
            </p>
          </details>
        </li>
      ))}
    </ul>
  );
}

function summaryOf({ attempts, next_attempt_at, state }: Delivery): string {
  const last = attempts.at(-1);
  if (last === undefined) return t('waits');
  const count = t('{n} attempt|{n} attempts', { n: attempts.length });
  const next =
    state === 'pending' && next_attempt_at !== null ? `, ${t('next {time}', { time: ago(next_attempt_at) })}` : '';
  return `${count}, ${ago(last.at)}${next}`;
}

const Attempts = ({ delivery: { attempts } }: { readonly delivery: Delivery }) => (
  <ol class="attempts">
    {attempts.map(({ attempt, at, status, error, duration_ms }) => (
      <li key={attempt}>
        <time dateTime={at}>{shownTime(at)}</time> <span>{status ?? t('no answer')}</span>{' '}
        <span class="quiet">{Math.round(duration_ms)} ms</span> {error !== null && <span class="clip">{error}</span>}
      </li>
    ))}
  </ol>
);
