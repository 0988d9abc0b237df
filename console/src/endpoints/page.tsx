/** The page "Endpoints": receivers of alerts with their state, a form for a new one, and the deliveries of one. */
import { useSignal } from '@preact/signals';
import { Link, useLocation } from 'wouter-preact';
import { may } from '../access.js';
import type { Endpoint } from '../api/types.js';
import '../styles/endpoints.css';
import { t } from '../texts/texts.js';
import { ago } from '../ui/format.js';
import { usePolling } from '../ui/polling.js';
import { EndpointDetail } from './detail.js';
import { EndpointForm } from './form.js';
import { PushButton } from './push.js';
import { createEndpoint, endpoints, fault, freshSecret, nameOf, readEndpoints } from './store.js';

const AGAIN_MS = 5_000;
/** Letters of the name of an endpoint, after its first word. */
const LONGEST_NAME = 200;

export function EndpointsPage({ params }: { readonly params: { readonly endpoint?: string } }) {
  const [, go] = useLocation();
  const isAdding = useSignal(false);
  const readFault = usePolling(readEndpoints, () => AGAIN_MS);
  const chosen = endpoints.value?.find(({ id }) => id === params.endpoint);
  return (
    <div class="endpoints">
      <header class="endpoints-head">
        <h1>{t('Endpoints')}</h1>
        {may('admin') && (
          <button
            type="button"
            aria-expanded={isAdding.value}
            onClick={() => {
              isAdding.value = !isAdding.value;
            }}
          >
            {t('New endpoint')}
          </button>
        )}
        {may('judge') && <PushButton onSubscribed={notifyBrowser} />}
      </header>
      <p class="fault" role="alert">
        {fault.value || readFault.value}
      </p>
      <FreshSecret />
      {isAdding.value && (
        <EndpointForm
          onSubmit={async (fields) => {
            const id = await createEndpoint({ ...fields, url: fields.url ?? '' });
            if (id === undefined) return;
            isAdding.value = false;
            go(`/endpoints/${id}`);
          }}
        />
      )}
      <List chosen={params.endpoint} isReading={readFault.value === ''} />
      {chosen !== undefined && <EndpointDetail key={chosen.id} endpoint={chosen} />}
    </div>
  );
}

const notifyBrowser = (subscription: { readonly url: string; readonly authorization: string }) => {
  const name = navigator.userAgent.replace(/^Mozilla\/5\.0 /, '').slice(0, LONGEST_NAME);
  return createEndpoint({ ...subscription, format: 'web-push', description: t('Browser: {name}', { name }) });
};

/** The only time at which the secret can be read. */
function FreshSecret() {
  const fresh = freshSecret.value;
  if (fresh === null) return null;
  return (
    <section aria-label={t('Secret')} class="secret">
      <p>
        {t('The secret that signs the requests. Copy it to the receiver now:')}{' '}
        <strong>{t('it is not shown again.')}</strong>
      </p>
      <p>
        <code class="clip">{fresh.secret}</code>
      </p>
      <div class="endpoint-row">
        <button type="button" onClick={() => navigator.clipboard?.writeText(fresh.secret)}>
          {t('Copy')}
        </button>
        <button
          type="button"
          onClick={() => {
            freshSecret.value = null;
          }}
        >
          {t('I have it')}
        </button>
      </div>
    </section>
  );
}

/** @returns why the endpoint is in its state, or when it last got something */
function detailOf({ state, stopped, failing_since, last_error, last_delivered_at }: Endpoint): string {
  if (state === 'stopped' && stopped !== null) return stopped.detail;
  if (state === 'failing') return `${ago(failing_since ?? '')}: ${last_error}`;
  return last_delivered_at === null
    ? t('nothing delivered yet')
    : t('last delivery {time}', { time: ago(last_delivered_at) });
}

function List({ chosen, isReading }: { readonly chosen: string | undefined; readonly isReading: boolean }) {
  const all = endpoints.value;
  if (all === null) return isReading ? <p class="quiet">{t('Reading …')}</p> : null;
  if (all.length === 0)
    return (
      <p class="quiet">
        {may('admin')
          ? t('No receiver is registered. Alerts go to callbacks of cameras alone.')
          : t('No browser of this key gets notifications.')}
      </p>
    );
  return (
    <ul class="endpoint-list">
      {all.map((endpoint) => (
        <li key={endpoint.id}>
          <Link href={`/endpoints/${endpoint.id}`} aria-current={endpoint.id === chosen ? 'true' : undefined}>
            <span class="clip name">{nameOf(endpoint)}</span>
            <span class="quiet">{endpoint.format}</span>
            <span class={`state ${endpoint.state}`}>{t(endpoint.state)}</span>
            <span class="quiet clip">{detailOf(endpoint)}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
