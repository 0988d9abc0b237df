/** Dry run of the edited settings over the frames of the last day, before they are saved. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../openapi/generated/api.js';
import { DAY_MS, systemClock } from '../../../src/base/clock.js';
import { api, messageOf, ok } from '../api/client.js';
import { addressOf } from '../api/root.js';
import type { Camera } from '../api/types.js';
import { t } from '../texts/texts.js';
import { percent, shownSpan, shownTime } from '../ui/format.js';
import { type Settings, withSettings } from './store.js';

type Result = components['schemas']['CameraDryRun'];

interface Props {
  readonly camera: Camera;
  /** of the edited fields */
  readonly settings: () => Partial<Settings>;
}

export function DryRun({ camera, settings }: Props) {
  const result = useSignal<Result | null>(null);
  const fault = useSignal('');
  const busy = useSignal(false);
  const run = async () => {
    busy.value = true;
    fault.value = '';
    result.value = null;
    try {
      const query = { since: new Date(systemClock() - DAY_MS).toISOString() };
      const params = { path: { id: camera.id }, query };
      const body = withSettings(camera, settings()) as never;
      result.value = await ok(api.POST('/v1/cameras/{id}/dry-run', { params, body }));
    } catch (error) {
      fault.value = messageOf(error);
    } finally {
      busy.value = false;
    }
  };
  return (
    <section aria-label={t('Dry run')} class="dry-run">
      <h2>{t('Dry run')}</h2>
      <button type="button" disabled={busy.value} onClick={run}>
        {t('Try these settings on the last day')}
      </button>
      <div role="status">{result.value !== null && <Outcome {...result.value} />}</div>
      <p role="alert" class="fault clip">
        {fault.value}
      </p>
    </section>
  );
}

function Outcome({ alert_count, alerts, frames, from, to, suppressed, threshold, limits }: Result) {
  return (
    <>
      <p>
        <b>{t('Would have sent {n} alert|Would have sent {n} alerts', { n: alert_count })}</b>
        {from !== null && to !== null && ` ${shownSpan(from, to)}`} ({t('{n} frame|{n} frames', { n: frames })}
        {suppressed > 0 && `, ${t('{n} more suppressed by the cool-down', { n: suppressed })}`}
        {threshold !== null && `, ${t('threshold {share}', { share: percent(threshold) })}`}).
      </p>
      <ul class="dry-run-alerts">
        {alerts.map(({ type, at, caption, severity, comparison }) => (
          <li key={`${comparison} ${type} ${caption}`} class="clip">
            <a href={addressOf(`/try?comparison=${comparison}`)}>{shownTime(at)}</a> {caption}{' '}
            <span class="quiet">{t(severity)}</span>
          </li>
        ))}
      </ul>
      {limits.map((limit) => (
        <p key={limit} class="quiet">
          {limit}
        </p>
      ))}
    </>
  );
}
