/** Times at which alerts are sent: weekly windows in a time zone, and a pause until a time. */
import type { Camera } from '../api/types.js';
import { t } from '../texts/texts.js';

export type Schedule = NonNullable<Camera['schedule']>;
type Window = Schedule['windows'][number];

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const NIGHT: Window = { days: [...DAYS], from: '18:00', to: '06:00' };

interface Props {
  readonly schedule: Schedule | null;
  readonly onSchedule: (schedule: Schedule | null) => void;
}

export function ScheduleFields({ schedule, onSchedule }: Props) {
  const begin = () => onSchedule({ timezone: Intl.DateTimeFormat().resolvedOptions().timeZone, windows: [NIGHT] });
  if (schedule === null) {
    return (
      <p class="rule-line">
        <span>{t('Alerts are sent at all times.')}</span>
        <button type="button" onClick={begin}>
          {t('Only at some times')}
        </button>
      </p>
    );
  }
  const { windows } = schedule;
  const put = (i: number, part: Partial<Window>) =>
    onSchedule({ ...schedule, windows: windows.map((window, at) => (at === i ? { ...window, ...part } : window)) });
  const remove = (i: number) =>
    onSchedule(windows.length === 1 ? null : { ...schedule, windows: windows.toSpliced(i, 1) });
  return (
    <>
      <label>
        {t('Time zone of these times')}
        <input
          maxLength={64}
          value={schedule.timezone}
          onInput={(event) => onSchedule({ ...schedule, timezone: event.currentTarget.value })}
        />
      </label>
      {windows.map((window, i) => (
        <fieldset key={i} class="window">
          <legend>{t('Alerts are sent')}</legend>
          <div class="days">
            {DAYS.map((day) => (
              <label key={day}>
                <input
                  type="checkbox"
                  checked={window.days.includes(day)}
                  onChange={({ currentTarget: { checked } }) =>
                    put(i, { days: DAYS.filter((one) => (one === day ? checked : window.days.includes(one))) })
                  }
                />
                {day}
              </label>
            ))}
          </div>
          <div class="rule-line">
            <label>
              {t('from')}
              <input type="time" value={window.from} onInput={(event) => put(i, { from: event.currentTarget.value })} />
            </label>
            <label>
              {t('to')}
              <input type="time" value={window.to} onInput={(event) => put(i, { to: event.currentTarget.value })} />
            </label>
            <button type="button" onClick={() => remove(i)}>
              {t('Remove this time')}
            </button>
          </div>
        </fieldset>
      ))}
      <button type="button" onClick={() => onSchedule({ ...schedule, windows: [...windows, NIGHT] })}>
        {t('Add a time')}
      </button>
    </>
  );
}

/** Local time of an instant as the field of a browser has it, e.g. '2026-06-01T12:00'. */
function localTime(iso: string): string {
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

interface PauseProps {
  readonly until: string | null;
  readonly onUntil: (until: string | null) => void;
}

export const PauseField = ({ until, onUntil }: PauseProps) => (
  <label>
    {t('No alerts before (empty: no pause)')}
    <input
      type="datetime-local"
      value={until === null ? '' : localTime(until)}
      onInput={({ currentTarget: { value } }) => onUntil(value === '' ? null : new Date(value).toISOString())}
    />
  </label>
);
