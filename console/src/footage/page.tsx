/** The page "Footage": archived recordings that the service processes as batches, and the results of one of them. */
import { Link, useLocation } from 'wouter-preact';
import '../styles/drawing.css';
import '../styles/footage.css';
import { ago, percent, shownDuration } from '../ui/format.js';
import { usePolling } from '../ui/polling.js';
import { BatchView } from './batch-view.js';
import { CreateBatch } from './create.js';
import { type Batch, batches, isRunning, loadBatches, moreBatches, nameOf, shownPages, speedOf } from './store.js';

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
      <section aria-label="Batches">
        <h1>Footage</h1>
        <p class="fault" role="alert">
          {fault.value}
        </p>
        {all === null && fault.value === '' && <p class="quiet">Reading …</p>}
        {all?.length === 0 && (
          <p class="quiet">No batch yet. Give a recording, and the service finds what changed in it, and when.</p>
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
            Earlier batches
          </button>
        )}
      </section>
      <CreateBatch onCreated={({ id }) => navigate(`/footage/${id}`)} />
    </div>
  );
}

const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`;

/** State, share, speed and what was found so far. */
export function Progress({ batch }: { readonly batch: Batch }) {
  const { status, progress, frames, changes, gaps, failures } = batch;
  const speed = isRunning(batch) ? speedOf(batch) : null;
  return (
    <>
      <span class={`batch-status ${status}`}>{status}</span>
      {isRunning(batch) && (
        // The service reports the share with each part that it has finished; until the first one it is unknown.
        <progress {...(progress > 0 ? { value: progress, max: 1 } : {})} aria-label="Share of the recordings" />
      )}
      <span class="batch-facts">
        {isRunning(batch) && <span>{progress > 0 ? percent(progress) : 'the first part is not done yet'}</span>}
        <span>{count(changes, 'change', 'changes')}</span>
        <span class="quiet">{count(frames, 'frame', 'frames')}</span>
        {speed !== null && (
          <span class="quiet">
            {speed.framesPerSecond.toFixed(1)} frames per second, {speed.timesRealTime.toPrecision(2)} × real time
          </span>
        )}
        {speed?.secondsLeft != null && <span>{shownDuration(speed.secondsLeft)} left</span>}
        {gaps > 0 && <span class="quiet">{count(gaps, 'gap', 'gaps')}</span>}
        {failures > 0 && <span class="fault">{count(failures, 'failure', 'failures')}</span>}
      </span>
    </>
  );
}
