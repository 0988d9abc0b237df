/** How far a batch is: state, share, speed and what was found so far. */
import { t } from '../texts/texts.js';
import { percent, shownDuration } from '../ui/format.js';
import { type Batch, isRunning, speedOf } from './store.js';

export function Progress({ batch }: { readonly batch: Batch }) {
  const { status, progress, frames, frames_expected: expected, changes, visits, gaps, failures } = batch;
  const speed = isRunning(batch) ? speedOf(batch) : null;
  return (
    <>
      <span class={`batch-status ${status}`}>{t(status)}</span>
      {isRunning(batch) && (
        // The share is unknown until the inputs have been listed and the first frame is done.
        <progress {...(frames > 0 ? { value: progress, max: 1 } : {})} aria-label={t('Share of the recordings')} />
      )}
      <span class="batch-facts">
        {isRunning(batch) && <span>{frames > 0 ? percent(progress) : t('the first frame is not done yet')}</span>}
        <span>{t('{n} change|{n} changes', { n: changes })}</span>
        {batch.mode === 'changes' && <span>{t('{n} visit|{n} visits', { n: visits })}</span>}
        <span class="quiet">
          {isRunning(batch) && expected !== null
            ? t('{n} of about {all} frames', { n: frames, all: expected })
            : t('{n} frame|{n} frames', { n: frames })}
        </span>
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
