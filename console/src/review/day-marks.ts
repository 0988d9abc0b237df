/** Visits and changes as marks on the line of a day. */
import type { SEVERITIES } from '../api/types.js';
import { severityOf } from './list.js';
import { pictureOf } from './picture.js';
import { cameraName } from './store.js';
import type { Entry } from './visits.js';

export const MINUTE_MS = 60_000;

export interface Day {
  /** epoch ms */
  readonly start: number;
  /** 1380 or 1500 if the clock changes */
  readonly minutes: number;
}

/** @param day local, e.g. '2026-06-01' */
export function spanOfDay(day: string): Day {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const start = new Date(year, month - 1, date).getTime();
  return { start, minutes: (new Date(year, month - 1, date + 1).getTime() - start) / MINUTE_MS };
}

/** Place of an hour of the clock, in minutes of the day. */
export const minuteOfHour = ({ start }: Day, hour: number): number =>
  (new Date(start).setHours(hour) - start) / MINUTE_MS;

export interface Mark {
  readonly id: string;
  readonly camera: string;
  /** camera and sentence */
  readonly text: string;
  /** minutes of the day */
  readonly from: number;
  readonly to: number;
  readonly level: (typeof SEVERITIES)[number];
  readonly picture: ReturnType<typeof pictureOf>;
}

/** @returns no mark for what lies in another day */
export function markOf({ id, visit, changes }: Entry, { start, minutes }: Day): Mark[] {
  const [change] = changes;
  const minute = (iso: string) => (Date.parse(iso) - start) / MINUTE_MS;
  const shown =
    visit !== null
      ? { camera: visit.camera, caption: visit.caption, first: visit.first_seen, last: visit.last_seen }
      : change !== undefined && {
          ...{ camera: change.camera, caption: change.caption },
          ...{ first: change.confirmed_at, last: change.confirmed_at },
        };
  if (!shown) return [];
  const [from, to] = [minute(shown.first), Math.min(minute(shown.last), minutes)];
  if (to < 0 || from >= minutes) return [];
  const level = (visit === null ? change?.severity : severityOf(visit, changes)) ?? 'info';
  const picture = visit?.best ?? (change && pictureOf(change));
  if (picture === undefined) return [];
  const text = `${cameraName(shown.camera)}: ${shown.caption}`;
  return [{ id, camera: shown.camera, text, from: Math.max(from, 0), to, level, picture }];
}

const distance = ({ from, to }: Mark, minute: number): number => Math.max(from - minute, minute - to, 0);

/** @returns the mark at the minute, or the nearest one */
export const nearest = (marks: readonly Mark[], minute: number): Mark | undefined =>
  [...marks].sort((a, b) => distance(a, minute) - distance(b, minute))[0];
