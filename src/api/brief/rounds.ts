/** The rounds of a day in a brief: their comparisons, by the ids that follow from camera, round and day. */
import { roundIdOf } from '../../base/ids.js';
import { isoTime } from '../../base/wall-clock.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import { latestRound } from '../../camera/settings/rounds.js';
import type { Locale } from '../../language/locales.js';
import { translated } from '../../language/translate.js';
import type { BriefRound } from '../../schemas/brief.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Day } from './day.js';

/** @param baseUrl without a trailing slash */
export async function briefRounds(
  { id: camera, settings }: StoredCamera,
  { from, until }: Day,
  { locale, baseUrl }: { locale: Locale; baseUrl: string },
  { results }: Pick<ApiDependencies, 'results'>,
): Promise<BriefRound[]> {
  const found: BriefRound[] = [];
  for (const round of settings.rounds) {
    const times = latestRound(round, until - 1);
    if (times === null || times.at < from) continue;
    const id = roundIdOf(camera, round, times);
    const stored = await results.get(id);
    if (stored === undefined) continue;
    const { caption, verdict = null, error } = translated(stored.comparison, locale);
    found.push({
      ...{ name: round.name, at: isoTime(times.at), with: isoTime(times.with), comparison: id, verdict },
      ...{ caption: caption ?? error?.detail ?? '', url: `${baseUrl}/v1/comparisons/${id}` },
    });
  }
  return found.sort((a, b) => a.at.localeCompare(b.at));
}
