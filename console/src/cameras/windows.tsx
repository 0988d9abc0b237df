/** Weekly windows: days, and a time from which to which. */
import type { Camera } from '../api/types.js';
import { t } from '../texts/texts.js';

export type Window = NonNullable<Camera['schedule']>['windows'][number];

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export const NIGHT: Window = { days: [...DAYS], from: '18:00', to: '06:00' };

interface DaysProps {
  /** path of the setting */
  readonly setting: string;
  readonly days: readonly (typeof DAYS)[number][];
  readonly onDays: (days: (typeof DAYS)[number][]) => void;
}

const Days = ({ setting, days, onDays }: DaysProps) => (
  <div class="days">
    {DAYS.map((day) => (
      <label key={day}>
        <input
          name={setting}
          type="checkbox"
          checked={days.includes(day)}
          onChange={({ currentTarget: { checked } }) =>
            onDays(DAYS.filter((one) => (one === day ? checked : days.includes(one))))
          }
        />
        {day}
      </label>
    ))}
  </div>
);

interface Props {
  /** path of the setting */
  readonly setting: string;
  readonly legend: string;
  readonly windows: readonly Window[];
  /** is given an empty list if the last one is removed */
  readonly onWindows: (windows: Window[]) => void;
}

export function Windows({ setting, legend, windows, onWindows }: Props) {
  const put = (i: number, part: Partial<Window>) => onWindows(windows.with(i, { ...(windows[i] as Window), ...part }));
  return (
    <>
      {windows.map((window, i) => (
        <fieldset key={i} class="window">
          <legend>{legend}</legend>
          <Days setting={`${setting}.days`} days={window.days} onDays={(days) => put(i, { days })} />
          <div class="rule-line">
            {(['from', 'to'] as const).map((end) => (
              <label key={end}>
                {end === 'from' ? t('from') : t('to')}
                <input
                  name={`${setting}.${end}`}
                  type="time"
                  value={window[end]}
                  onInput={(event) => put(i, { [end]: event.currentTarget.value })}
                />
              </label>
            ))}
            <button type="button" onClick={() => onWindows(windows.toSpliced(i, 1))}>
              {t('Remove this time')}
            </button>
          </div>
        </fieldset>
      ))}
      <button type="button" onClick={() => onWindows([...windows, NIGHT])}>
        {t('Add a time')}
      </button>
    </>
  );
}
