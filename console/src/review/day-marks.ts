/** Visits and changes as marks on the line of a day. */
import type { SEVERITIES } from '../api/types.js';
import { severityOf } from './list.js';
import { pictureOf } from './picture.js';
import { cameraName } from './store.js';
import type { Entry } from './visits.js';

/** Minutes of the line. A day on which the clock changes is shown as far as it reaches. */
export const MINUTES = 1440;
export const MINUTE_MS = 60_000;

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

/** @param start of the day, epoch ms. @returns no mark for what lies in another day */
export function markOf({ id, visit, changes }: Entry, start: number): Mark[] {
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
  const [from, to] = [minute(shown.first), Math.min(minute(shown.last), MINUTES)];
  if (to < 0 || from >= MINUTES) return [];
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
