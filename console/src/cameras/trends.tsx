/** Changes and visits of the cameras per week, read when they are opened. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { components } from '../../../openapi/generated/api.js';
import { api, messageOf, ok } from '../api/client.js';
import { PAGE } from '../api/pages.js';
import { locale, t } from '../texts/texts.js';
import { shownTime } from '../ui/format.js';

type Trend = components['schemas']['Trend'];
type Week = Trend['weeks'][number];

const WEEKS = 8;
const DAY = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'numeric', timeZone: 'UTC' });

/** @param label '': all cameras */
export function Trends({ label }: { readonly label: string }) {
  const isOpen = useSignal(false);
  return (
    <details
      class="trends"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>{t('Changes per week')}</summary>
      {isOpen.value && <TrendTable key={label} label={label} />}
    </details>
  );
}

function TrendTable({ label }: { readonly label: string }) {
  const found = useSignal<{ readonly items: readonly Trend[]; readonly more: boolean } | null>(null);
  const fault = useSignal('');
  useEffect(() => {
    readTrends(label).then(
      (trends) => {
        found.value = trends;
      },
      (error) => {
        fault.value = messageOf(error);
      },
    );
  }, [label]);
  const trends = found.value?.items ?? [];
  const [first] = trends;
  if (first === undefined) {
    return (
      <p role="status" class={fault.value === '' ? 'quiet' : 'fault'}>
        {fault.value || (found.value === null ? t('Reading …') : t('There is no camera yet.'))}
      </p>
    );
  }
  const most = Math.max(1, ...trends.flatMap(({ weeks }) => weeks.map(({ changes }) => changes ?? 0)));
  const cut = trends.map(keptSinceOf).filter((since) => since !== null);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keys */}
      <section class="trend-table" aria-label={t('Changes per week')} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('Camera')}</th>
              {first.weeks.map(({ monday }) => (
                <th key={monday} scope="col" class="number">
                  {DAY.format(new Date(monday))}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {trends.map(({ camera, name, weeks }) => (
              <tr key={camera}>
                <th scope="row">{name ?? camera}</th>
                {weeks.map((week) => (
                  <WeekCell key={week.monday} week={week} most={most} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p class="quiet">{t('Each week begins on Monday. Bold: changes; below them: visits.')}</p>
      {cut.length > 0 && (
        <p class="quiet">
          {t('Retention has removed what is older than {time}.', { time: shownTime(cut.sort().at(-1) ?? '') })}
        </p>
      )}
      {found.value?.more && (
        <p class="quiet">{t('The first {n} cameras; a label shows others.', { n: trends.length })}</p>
      )}
    </>
  );
}

function WeekCell({ week: { changes, visits }, most }: { readonly week: Week; readonly most: number }) {
  if (changes === null || visits === null) {
    return (
      <td class="number quiet" title={t('removed by retention')}>
        –
      </td>
    );
  }
  return (
    <td class="number">
      <span class="trend-bar" style={{ width: `${(100 * changes) / most}%` }} />
      <b>{changes}</b>
      <span class="quiet">{visits}</span>
    </td>
  );
}

/** @returns the time from which records are kept, if a shown week began before it; else null */
const keptSinceOf = ({ kept_since, weeks }: Trend): string | null =>
  weeks.some(({ complete }, i) => !complete && i < weeks.length - 1) ? kept_since : null;

async function readTrends(label: string) {
  const query = {
    weeks: WEEKS,
    limit: PAGE,
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(label === '' ? {} : { label }),
  };
  const { items, next_cursor } = await ok(api.GET('/v1/trends', { params: { query } }));
  return { items, more: next_cursor !== null };
}
