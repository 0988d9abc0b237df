/** One batch: its progress, its failures, what can be done with it, and its results. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { ApiError, api, messageOf, ok } from '../api/client.js';
import { recoveries } from '../api/connection.js';
import { shownTime } from '../ui/format.js';
import { Progress } from './page.js';
import { ResultsView } from './results.js';
import {
  type Batch,
  batches,
  dropBatch,
  isRunning,
  keepBatch,
  loadBatch,
  nameOf,
  type Results,
  readResults,
} from './store.js';

const AGAIN_MS = 2_000;
const DOWNLOADS = [
  ['html', 'Report'],
  ['csv', 'CSV'],
  ['ndjson', 'NDJSON'],
  ['json', 'JSON'],
] as const;

export function BatchView({ id }: { readonly id: string }) {
  const fault = useSignal('');
  const results = useSignal<Results | null>(null);
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
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let open = true;
    const read = async () => {
      clearTimeout(timer);
      try {
        const found = await loadBatch(id);
        if (found.status === 'completed') results.value ??= await readResults(id);
        fault.value = '';
      } catch (error) {
        fault.value = messageOf(error);
        if (error instanceof ApiError && error.status === 404) return;
      }
      // Also after an end, because another person may retry it.
      if (open && results.value === null) timer = setTimeout(read, AGAIN_MS);
    };
    const stop = recoveries.subscribe(() => void read());
    return () => {
      open = false;
      clearTimeout(timer);
      stop();
    };
  }, [id]);
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
        <Link href="/footage">All batches</Link>
        <h1 class="clip">{batch === undefined ? id : nameOf(batch)}</h1>
        {batch && <span class="quiet">{shownTime(batch.created_at)}</span>}
      </header>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {batch && (
        <>
          <div class="batch-progress" role="status">
            <Progress batch={batch} />
          </div>
          <div class="batch-actions" role="toolbar" aria-label="Batch">
            {isRunning(batch) && (
              <button type="button" disabled={busy.value} onClick={cancel}>
                Cancel
              </button>
            )}
            {(batch.status === 'failed' || batch.status === 'cancelled') && (
              <button type="button" class="primary" disabled={busy.value} onClick={retry}>
                Go on from its last step
              </button>
            )}
            {!isRunning(batch) && <Erase busy={busy.value} onErase={erase} />}
            {batch.results !== null &&
              DOWNLOADS.map(([format, name]) => (
                <a key={format} class="download" href={`/v1/batches/${id}/results?format=${format}`} download>
                  {name}
                </a>
              ))}
          </div>
          {batch.error !== null && <p class="fault clip">{batch.error.detail}</p>}
          <Failures batch={batch} />
        </>
      )}
      {results.value !== null && <ResultsView id={id} results={results.value} />}
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
      {asked.value ? 'Erase it with its results' : 'Erase …'}
    </button>
  );
}

function Failures({ batch: { failed_inputs } }: { readonly batch: Batch }) {
  if (failed_inputs.length === 0) return null;
  return (
    <details>
      <summary>Inputs that could not be used</summary>
      <ul class="failures">
        {failed_inputs.map(({ file, reason }, i) => (
          <li key={i} class="clip">
            <b>{file}</b>: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}
