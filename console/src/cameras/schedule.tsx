/** Times at which alerts are sent: weekly windows in a time zone, and a pause until a time. */
import type { Camera } from '../api/types.js';
import { t } from '../texts/texts.js';
import { NIGHT, Windows } from './windows.js';

export type Schedule = NonNullable<Camera['schedule']>;
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
  return (
    <>
      <label>
        {t('Time zone of these times')}
        <input
          name="schedule.timezone"
          maxLength={64}
          value={schedule.timezone}
          onInput={(event) => onSchedule({ ...schedule, timezone: event.currentTarget.value })}
        />
      </label>
      <Windows
        setting="schedule.windows"
        legend={t('Alerts are sent')}
        windows={schedule.windows}
        onWindows={(windows) => onSchedule(windows.length === 0 ? null : { ...schedule, windows })}
      />
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
      name="suspend_until"
      type="datetime-local"
      value={until === null ? '' : localTime(until)}
      onInput={({ currentTarget: { value } }) => onUntil(value === '' ? null : new Date(value).toISOString())}
    />
  </label>
);
