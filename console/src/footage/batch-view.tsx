/** One batch: its progress, its failures, what can be done with it, and its results. */
import { useSignal } from '@preact/signals';
import { Link, useLocation } from 'wouter-preact';
import { api, messageOf, ok } from '../api/client.js';
import { addressOf } from '../api/root.js';
import { t } from '../texts/texts.js';
import { shownTime } from '../ui/format.js';
import { usePolling } from '../ui/polling.js';
import { Failures } from './failures.js';
import { Progress } from './progress.js';
import { ResultsView } from './results.js';
import { SearchView } from './search-view.js';
import { batches, dropBatch, isRunning, keepBatch, loadBatch, nameOf, type Outcome, readOutcome } from './store.js';

const AGAIN_MS = 2_000;
const DOWNLOADS = [
  ['html', t('Report')],
  ['visits', t('Visits')],
  ['csv', 'CSV'],
  ['ndjson', 'NDJSON'],
  ['json', 'JSON'],
] as const;

export function BatchView({ id }: { readonly id: string }) {
  const fault = useSignal('');
  const outcome = useSignal<Outcome | null>(null);
  const busy = useSignal(false);
  const [, navigate] = useLocation();
  const batch = batches.value?.find((one) => one.id === id);
  const run = async (work: () => Promise<void>) => {
    fault.value = '';
    busy.value = true;
    try {
      await work();
    } catch (error) {
      fault.value = messageOf(error);
    } finally {
      busy.value = false;
    }
  };
  const readFault = usePolling(
    async () => {
      const found = await loadBatch(id);
      if (found.status === 'completed') outcome.value ??= await readOutcome(found);
    },
    // Also after an end, because another person may retry it.
    () => (outcome.value === null ? AGAIN_MS : null),
    [id],
  );
  const params = { path: { id } };
  const cancel = () => run(async () => keepBatch(await ok(api.POST('/v1/batches/{id}/cancel', { params }))));
  const retry = () => run(async () => keepBatch(await ok(api.POST('/v1/batches/{id}/retry', { params }))));
  const erase = () =>
    run(async () => {
      await ok(api.DELETE('/v1/batches/{id}', { params }));
      dropBatch(id);
      navigate('/footage');
    });
  return (
    <div class="batch">
      <header class="batch-head">
        <Link href="/footage">{t('All batches')}</Link>
        <h1 class="clip">{batch === undefined ? id : nameOf(batch)}</h1>
        {batch && <span class="quiet">{shownTime(batch.created_at)}</span>}
      </header>
      <p class="fault" role="alert">
        {fault.value || readFault.value}
      </p>
      {batch && (
        <>
          <div class="batch-progress" role="status">
            <Progress batch={batch} />
          </div>
          <div class="batch-actions" role="toolbar" aria-label={t('Batch')}>
            {isRunning(batch) && (
              <button type="button" disabled={busy.value} onClick={cancel}>
                {t('Cancel')}
              </button>
            )}
            {(batch.status === 'failed' || batch.status === 'cancelled') && (
              <button type="button" class="primary" disabled={busy.value} onClick={retry}>
                {t('Go on from its last step')}
              </button>
            )}
            {!isRunning(batch) && <Erase busy={busy.value} onErase={erase} />}
            {batch.results !== null &&
              DOWNLOADS.filter(([format]) => batch.results?.[format] !== undefined).map(([format, name]) => (
                <a
                  key={format}
                  class="download"
                  href={addressOf(`/v1/batches/${id}/results?format=${format}`)}
                  download
                >
                  {name}
                </a>
              ))}
          </div>
          {batch.error !== null && <p class="fault clip">{batch.error.detail}</p>}
          <Failures failures={batch.failed_inputs} />
        </>
      )}
      {outcome.value?.mode === 'changes' && <ResultsView id={id} results={outcome.value.results} />}
      {outcome.value?.mode === 'when' && <SearchView id={id} search={outcome.value.search} />}
    </div>
  );
}

/** Erasing asks once more, because nothing brings the results back. */
function Erase({ busy, onErase }: { readonly busy: boolean; readonly onErase: () => void }) {
  const asked = useSignal(false);
  const ask = () => {
    asked.value = true;
  };
  return (
    <button type="button" disabled={busy} onClick={asked.value ? onErase : ask}>
      {asked.value ? t('Erase it with its results') : t('Erase …')}
    </button>
  );
}
