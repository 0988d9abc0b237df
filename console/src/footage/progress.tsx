/** How far a batch is: state, share, speed and what was found so far. */
import { t } from '../texts/texts.js';
import { percent, shownDuration } from '../ui/format.js';
import { type Batch, isRunning, speedOf } from './store.js';

export function Progress({ batch }: { readonly batch: Batch }) {
  const { status, progress, frames, changes, gaps, failures } = batch;
  const speed = isRunning(batch) ? speedOf(batch) : null;
  return (
    <>
      <span class={`batch-status ${status}`}>{t(status)}</span>
      {isRunning(batch) && (
        // The service reports the share with each part that it has finished; until the first one it is unknown.
        <progress {...(progress > 0 ? { value: progress, max: 1 } : {})} aria-label={t('Share of the recordings')} />
      )}
      <span class="batch-facts">
        {isRunning(batch) && <span>{progress > 0 ? percent(progress) : t('the first part is not done yet')}</span>}
        <span>{t('{n} change|{n} changes', { n: changes })}</span>
        <span class="quiet">{t('{n} frame|{n} frames', { n: frames })}</span>
        {speed !== null && (
          <span class="quiet">
            {t('{frames} frames per second, {times} × real time', {
              frames: speed.framesPerSecond.toFixed(1),
              times: speed.timesRealTime.toPrecision(2),
            })}
          </span>
        )}
        {speed?.secondsLeft != null && <span>{t('{time} left', { time: shownDuration(speed.secondsLeft) })}</span>}
        {gaps > 0 && <span class="quiet">{t('{n} gap|{n} gaps', { n: gaps })}</span>}
        {failures > 0 && <span class="fault">{t('{n} failure|{n} failures', { n: failures })}</span>}
      </span>
    </>
  );
}
