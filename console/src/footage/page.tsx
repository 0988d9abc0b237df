/** The page "Footage": archived recordings that the service processes as batches, and the results of one of them. */
import { Link, useLocation } from 'wouter-preact';
import { may } from '../access.js';
import '../styles/drawing.css';
import '../styles/footage.css';
import { t } from '../texts/texts.js';
import { ago } from '../ui/format.js';
import { usePolling } from '../ui/polling.js';
import { BatchView } from './batch-view.js';
import { CreateBatch } from './create.js';
import { Progress } from './progress.js';
import { batches, isRunning, loadBatches, moreBatches, nameOf, shownPages } from './store.js';

const AGAIN_MS = { running: 2_000, idle: 10_000 };

export function FootagePage({ params }: { readonly params: { readonly batch?: string } }) {
  return params.batch === undefined ? <BatchList /> : <BatchView key={params.batch} id={params.batch} />;
}

function BatchList() {
  const [, navigate] = useLocation();
  const fault = usePolling(loadBatches, () => {
    const isBusy = batches.peek()?.some(isRunning) ?? false;
    return isBusy ? AGAIN_MS.running : AGAIN_MS.idle;
  });
  const all = batches.value;
  const showMore = () => {
    shownPages.value++;
    void loadBatches().catch(() => undefined);
  };
  return (
    <div class="footage">
      <section aria-label={t('Batches')}>
        <h1>{t('Footage')}</h1>
        <p class="fault" role="alert">
          {fault.value}
        </p>
        {all === null && fault.value === '' && <p class="quiet">{t('Reading …')}</p>}
        {all?.length === 0 && (
          <p class="quiet empty-panel">
            {t('No batch yet. Give a recording, and the service finds what changed in it, and when.')}
          </p>
        )}
        <ul class="batches">
          {all?.map((batch) => (
            <li key={batch.id}>
              <Link href={`/footage/${batch.id}`} class="batch-link">
                <b class="clip">{nameOf(batch)}</b>
                <span class="quiet">{ago(batch.created_at)}</span>
                <Progress batch={batch} />
              </Link>
            </li>
          ))}
        </ul>
        {moreBatches.value && (
          <button type="button" onClick={showMore}>
            {t('Earlier batches')}
          </button>
        )}
      </section>
      {may('batch') && <CreateBatch onCreated={({ id }) => navigate(`/footage/${id}`)} />}
    </div>
  );
}
