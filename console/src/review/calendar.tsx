/** A month whose days have a dot if there are changes; a day filters the list. */
import { useEffect, useState } from 'preact/hooks';
import { systemTime } from '../../../src/base/clock.js';
import { api, ok } from '../api/client.js';
import { recoveries } from '../api/connection.js';
import { locale, t } from '../texts/texts.js';
import { dayOf, present } from './filter.js';
import { byTime } from './store.js';

const MONTH = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric' });
const WEEKDAY = new Intl.DateTimeFormat(locale, { weekday: 'short' });
const LONG_DAY = new Intl.DateTimeFormat(locale, { dateStyle: 'long' });
/** A Monday; the week begins with it. */
const MONDAY = new Date(2024, 0, 1);
const WEEKDAYS = Array.from({ length: 7 }, (_, i) =>
  WEEKDAY.format(new Date(MONDAY.getFullYear(), 0, MONDAY.getDate() + i)),
);

interface Props {
  /** '': all */
  readonly camera: string;
  /** '': all */
  readonly label: string;
  readonly day: string;
  readonly onDay: (day: string) => void;
}

/** Changes that come within this time are counted together. */
const AGAIN_MS = 2_000;

export function Calendar({ camera, label, day, onDay }: Props) {
  const [shown, setShown] = useState(() => monthOf(day === '' ? dayOf(systemTime()) : day));
  const [counts, setCounts] = useState<ReadonlyMap<string, number>>(new Map());
  const newest = byTime.value[0]?.id;
  const read = () => {
    let current = true;
    readCounts(shown, camera, label).then(
      (found) => current && setCounts(found),
      () => undefined,
    );
    return () => {
      current = false;
    };
  };
  useEffect(read, [shown, camera, label, recoveries.value]);
  useEffect(() => {
    const timer = setTimeout(read, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [newest]);
  const turn = (by: number) => () => setShown(new Date(shown.getFullYear(), shown.getMonth() + by, 1));
  return (
    <div class="calendar">
      <div class="calendar-head">
        <button type="button" aria-label={t('Month before')} onClick={turn(-1)}>
          ‹
        </button>
        <span aria-live="polite">{MONTH.format(shown)}</span>
        <button type="button" aria-label={t('Month after')} onClick={turn(1)}>
          ›
        </button>
      </div>
      <table>
        <thead>
          <tr>
            {WEEKDAYS.map((name) => (
              <th key={name} scope="col">
                {name.slice(0, 2)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(shown).map((week) => (
            <tr key={week.find((date) => date !== null)?.toISOString()}>
              {week.map((date, i) => (
                <td key={WEEKDAYS[i]}>{date && <Day date={date} counts={counts} day={day} onDay={onDay} />}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {day !== '' && (
        <button type="button" onClick={() => onDay('')}>
          {t('All days')}
        </button>
      )}
    </div>
  );
}

interface DayProps extends Omit<Props, 'camera' | 'label'> {
  readonly date: Date;
  /** number of changes by local day */
  readonly counts: ReadonlyMap<string, number>;
}

function Day({ date, counts, day, onDay }: DayProps) {
  const name = dayOf(date.toISOString());
  const count = counts.get(name) ?? 0;
  return (
    <button
      type="button"
      class={count > 0 ? 'day dotted' : 'day'}
      aria-pressed={name === day}
      aria-label={`${LONG_DAY.format(date)}, ${t('{n} change|{n} changes', { n: count })}`}
      onClick={() => onDay(name === day ? '' : name)}
    >
      {date.getDate()}
    </button>
  );
}

async function readCounts(first: Date, camera: string, label: string): Promise<ReadonlyMap<string, number>> {
  const last = new Date(first.getFullYear(), first.getMonth() + 1, 0);
  const query = {
    from: dayOf(first.toISOString()),
    to: dayOf(last.toISOString()),
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...present({ camera, label }),
  };
  const { items } = await ok(api.GET('/v1/changes/counts', { params: { query } }));
  return new Map(items.map(({ day, changes }) => [day, changes]));
}

function monthOf(day: string): Date {
  const [year = 2026, month = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, 1);
}

/** @returns rows of seven days; null before the first and after the last day of the month */
function weeksOf(first: Date): (Date | null)[][] {
  const [year, month] = [first.getFullYear(), first.getMonth()];
  const before = (first.getDay() + 6) % 7;
  const days = new Date(year, month + 1, 0).getDate();
  return Array.from({ length: Math.ceil((before + days) / 7) }, (_, week) =>
    Array.from({ length: 7 }, (__, i) => {
      const date = week * 7 + i - before + 1;
      return date >= 1 && date <= days ? new Date(year, month, date) : null;
    }),
  );
}
