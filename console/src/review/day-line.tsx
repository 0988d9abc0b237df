/**
 * A day of the list as a line of 24 hours: a mark per visit and change, and a position that is dragged by pointer or
 * keys. The frames of a camera around that time play beside it.
 */
import { useEffect, useState } from 'preact/hooks';
import { locale, t } from '../texts/texts.js';
import { pointIn } from '../ui/drawing.js';
import { MINUTE_MS, markOf, minuteOfHour, nearest, spanOfDay } from './day-marks.js';
import { Film } from './film.js';
import { dayOf } from './filter.js';
import type { Entry } from './visits.js';

/** Minutes of a step by the arrow keys, and with Shift or by the page keys. */
const [STEP, LONG_STEP] = [5, 60];
const HOURS = [3, 6, 9, 12, 15, 18, 21];
/** Least width of a mark, minutes. */
const LEAST = 4;
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
const longDay = new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long' });

interface Props {
  /** local day, e.g. '2026-06-01' */
  readonly day: string;
  readonly entries: readonly Entry[];
  readonly selected: string | undefined;
  /** id of the camera of the filter; '': all */
  readonly camera: string;
  /** ISO 8601: entries from then on have been read; '': all of them */
  readonly reached: string;
  /** reads earlier entries, unless they are being read */
  readonly onFurther: () => void;
  readonly onDay: (day: string) => void;
  readonly onSelect: (id: string) => void;
}

export function DayLine({ day, entries, selected, camera, reached, onFurther, onDay, onSelect }: Props) {
  const [position, setPosition] = useState<number | null>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const span = spanOfDay(day);
  const { start, minutes } = span;
  const marks = entries.flatMap((entry) => markOf(entry, span));
  const timeOf = (minute: number) => start + minute * MINUTE_MS;
  const bounded = (minute: number) => Math.min(Math.max(Math.round(minute), 0), minutes - 1);
  const shown = pointed ?? position;
  // Nothing has been read yet if it is no time.
  const unread = reached === '' ? 0 : bounded((Date.parse(reached) - start) / MINUTE_MS || 0);
  const isUnread = shown !== null && shown < unread;
  useEffect(() => {
    if (isUnread) onFurther();
  }, [isUnread, reached, day]);
  const near = shown === null ? undefined : nearest(marks, shown);
  const turn = (by: number) => () => onDay(dayOf(new Date(year, month - 1, date + by).toISOString()));
  const follow = (event: PointerEvent) => {
    const [along] = pointIn(event.currentTarget as Element, event);
    const minute = bounded(along * minutes);
    setPointed(minute);
    if (event.buttons > 0) setPosition(minute);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const from = position ?? minutes / 2;
    const step = event.shiftKey ? LONG_STEP : STEP;
    const targets: Readonly<Record<string, number>> = {
      ArrowRight: from + step,
      ArrowLeft: from - step,
      PageUp: from + LONG_STEP,
      PageDown: from - LONG_STEP,
      Home: 0,
      End: minutes - 1,
    };
    const target = targets[event.key];
    if (event.key === 'Enter' && near !== undefined) onSelect(near.id);
    else if (target === undefined) return;
    else setPosition(bounded(target));
    setPointed(null);
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <section class="day-line" aria-label={t('The day')}>
      <div class="day-line-head">
        <button type="button" class="plain" aria-label={t('Day before')} onClick={turn(-1)}>
          ‹
        </button>
        <b>{longDay.format(start)}</b>
        <button type="button" class="plain" aria-label={t('Day after')} onClick={turn(1)}>
          ›
        </button>
      </div>
      <div class="day-line-body">
        <div
          class="day-line-track"
          role="slider"
          tabIndex={0}
          aria-label={t('Time of the day: the arrow keys move it, Enter opens what is there')}
          aria-valuemin={0}
          aria-valuemax={minutes - 1}
          aria-valuenow={Math.round(position ?? 0)}
          aria-valuetext={
            position === null
              ? t('no time chosen')
              : [clock.format(timeOf(position)), near?.text].filter(Boolean).join(', ')
          }
          onKeyDown={onKeyDown}
          onPointerDown={(event) => {
            (event.currentTarget as Element).setPointerCapture(event.pointerId);
            follow(event);
          }}
          onPointerMove={follow}
          onPointerLeave={() => setPointed(null)}
          onDblClick={() => near !== undefined && onSelect(near.id)}
        >
          <svg viewBox={`0 0 ${minutes} 32`} preserveAspectRatio="none" aria-hidden="true">
            {HOURS.map((hour) => (
              <path key={hour} class="day-line-hour" d={`M${minuteOfHour(span, hour)} 0V32`} />
            ))}
            {unread > 0 && <rect class="day-line-unread" width={unread} height={32} />}
            {marks.map(({ id, from, to, level }) => (
              <rect
                key={id}
                class={`day-line-mark ${level} ${id === selected ? 'current' : ''}`}
                x={from}
                y={6}
                width={Math.max(LEAST, to - from)}
                height={20}
              />
            ))}
            {shown !== null && <path class="day-line-position" d={`M${shown} 0V32`} />}
          </svg>
        </div>
        <p class="day-line-hours quiet" aria-hidden="true">
          {HOURS.map((hour) => (
            <span key={hour} style={{ left: `${(100 * minuteOfHour(span, hour)) / minutes}%` }}>
              {String(hour).padStart(2, '0')}
            </span>
          ))}
        </p>
        {shown !== null && (
          <Film
            // The film of the pointer goes with it; the one of the position stays.
            share={shown / minutes}
            camera={camera === '' ? near?.camera : camera}
            at={timeOf(shown)}
            title={clock.format(timeOf(shown))}
            near={near}
          />
        )}
      </div>
    </section>
  );
}
