/** How far a batch is: state, share, speed and what was found so far. */
import { percent, shownDuration } from '../ui/format.js';
import { type Batch, isRunning, speedOf } from './store.js';

const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`;

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
