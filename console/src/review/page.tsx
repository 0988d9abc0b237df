/** The page "Review": the live list of visits and changes, filters, and the selected one. */
import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link, useLocation, useSearchParams } from 'wouter-preact';
import { systemTime } from '../../../src/base/clock.js';
import { recoveries } from '../api/connection.js';
import { live, watchEvents } from '../api/events.js';
import { useKeys } from '../ui/keys.js';
import { isNarrow } from '../ui/narrow.js';
import { usePolling } from '../ui/polling.js';
import '../styles/review.css';
import { t, tx } from '../texts/texts.js';
import { resumeActions } from './actions.js';
import { Bulk } from './bulk.js';
import { DayLine } from './day-line.js';
import { Detail } from './detail.js';
import {
  briefOf,
  changeQueryOf,
  dayOf,
  type Filter,
  filterOf,
  isGrouped,
  isSearch,
  isShown,
  matches,
  queryOf,
  visitQueryOf,
} from './filter.js';
import { Filters } from './filters.js';
import { ChangeList } from './list.js';
import { markAll, marked, markedEntries, markRange, toggleMark, unmark } from './marks.js';
import { Problems } from './problems.js';
import { hits, searchFault, searchFor, searching, searchMore } from './search.js';
import { byTime, changes, hasLabel, listing, loadCameras, loadChange, onLiveEvent } from './store.js';
import { Understood } from './understood.js';
import { VisitDetail } from './visit-detail.js';
import {
  entryOf,
  followOpenVisits,
  groupedByVisit,
  loadVisit,
  onVisitEvent,
  readFurther,
  visitListing,
  visits,
  visitsFirst,
} from './visits.js';

const FOLLOW_MS = 5000;
/** Rows that are read below the last visible one. */
const ROWS_AHEAD = 30;
/** px of a line with its picture, if several are beside each other */
const LEAST_WIDTH = 420;

export function ReviewPage({ params }: { readonly params: { readonly change?: string } }) {
  const [, navigate] = useLocation();
  const [query, setQuery] = useSearchParams();
  const [missing, setMissing] = useState<string | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const filter = filterOf(query);
  const selected = params.change;

  useEffect(resumeActions, []);
  useEffect(
    () =>
      watchEvents((event) => {
        onLiveEvent(event);
        onVisitEvent(event);
      }),
    [],
  );
  usePolling(followOpenVisits, () => FOLLOW_MS);
  useSignalEffect(() => {
    // Also after the service was away.
    recoveries.value;
    void loadCameras().catch(() => undefined);
  });
  const grouped = isGrouped(filter);
  const searches = isSearch(filter);
  useEffect(() => {
    unmark();
    if (!searches) void listing.start(changeQueryOf(filter));
    if (grouped) void visitListing.start(visitQueryOf(filter));
    return searchFor(filter);
  }, [queryOf(filter).toString(), recoveries.value]);
  useEffect(() => {
    if (selected === undefined || changes.peek().has(selected) || visits.peek().has(selected)) return;
    const found = selected.startsWith('vis_') ? loadVisit(selected) : loadChange(selected);
    found.then(
      (read) => setMissing(read === undefined ? selected : null),
      () => undefined,
    );
  }, [selected]);

  const isLabelled = ({ camera }: { readonly camera: string }) => hasLabel(camera, filter.label);
  const shown = searches
    ? hits.value.ids.flatMap((id) => changes.value.get(id) ?? [])
    : byTime.value.filter((change) => matches(change, filter) && isLabelled(change));
  const shownVisits = grouped
    ? [...visits.value.values()].filter((visit) => isShown(visit, filter) && isLabelled(visit))
    : hits.value.visits.flatMap((id) => visits.value.get(id) ?? []);
  const group = searches ? visitsFirst : groupedByVisit;
  const all = shownVisits.length === 0 ? shown.map(entryOf) : group(shown, shownVisits);
  // Below, rows of what was not read yet would be missing.
  const reached = [listing.reached.value, ...(grouped ? [visitListing.reached.value] : [])].sort().at(-1) ?? '';
  const entries = searches ? all : all.filter(({ at }) => at >= reached);
  const isReading = searches ? searching.value : listing.isReading.value || (grouped && visitListing.isReading.value);
  const isPart = searches ? hits.value.cursor !== null : reached !== '';
  const fault = searches ? searchFault.value : listing.fault.value || (grouped && visitListing.fault.value) || '';
  const [lastVisible, setLastVisible] = useState(0);
  const isShort = isPart && entries.length < lastVisible + ROWS_AHEAD;
  useEffect(() => {
    if (!isShort || isReading || fault !== '') return;
    if (searches) void searchMore(filter);
    else readFurther(grouped);
  });
  const position = entries.findIndex(
    (entry) => entry.id === selected || entry.changes.some(({ id }) => id === selected),
  );
  const change = selected === undefined ? undefined : changes.value.get(selected);
  const visit = selected === undefined ? undefined : visits.value.get(selected);
  const visitCount = entries.filter((entry) => entry.visit !== null).length;
  const left = entries.length - visitCount;
  const chosen = markedEntries(entries);
  const isDetailed = selected !== undefined || marked.value.size > 0;
  const select = (id: string | undefined) => {
    const text = queryOf(filter).toString();
    if (id !== undefined)
      navigate(`/review/${id}${text === '' ? '' : `?${text}`}`, { replace: selected !== undefined });
  };
  const next = (by: number) => entries[Math.min(Math.max(position + by, 0), entries.length - 1)]?.id;
  const step = (by: number) => () => select(next(by));
  const extend = (by: number) => () => {
    markRange(entries, entries[position]?.id, next(by));
    step(by)();
  };
  const toggle = () => toggleMark(entries[position]?.id);
  // Each choice is a step of the browser's history; typed letters are not.
  const onFilter = (part: Partial<Filter>) =>
    setQuery(queryOf({ ...filter, ...part }), { replace: part.q !== undefined && filter.q !== '' });
  useKeys({
    j: step(1),
    ArrowDown: step(1),
    k: step(-1),
    ArrowUp: step(-1),
    J: extend(1),
    K: extend(-1),
    x: toggle,
    '*': () => markAll(entries),
    '/': () => search.current?.focus(),
  });
  return (
    <div class={`review ${isDetailed ? 'with-detail' : ''} ${selected === undefined ? '' : 'with-selection'}`}>
      <header class="review-head">
        <h1>{t('Changes')}</h1>
        <p class="quiet" role="status">
          {[
            ...(isPart ? [t('the first')] : []),
            ...(visitCount > 0 ? [t('{n} visit, and|{n} visits, and', { n: visitCount })] : []),
            t('{n} change|{n} changes', { n: left }),
          ].join(' ')}
          {isReading && `, ${searches ? t('searching …') : t('reading …')}`}
          {live.value && `, ${t('live')}`}
          <kbd>j</kbd>
          <kbd>k</kbd>
        </p>
        <a href={briefOf(filter)}>{filter.day === '' ? t('Brief of today') : t('Brief of this day')}</a>
        <Problems />
      </header>
      <details class="review-filters" open={!isNarrow.value}>
        <summary>{t('Filter')}</summary>
        <Filters filter={filter} search={search} onFilter={onFilter} />
      </details>
      {!searches && (
        <DayLine
          day={filter.day === '' ? dayOf(systemTime()) : filter.day}
          entries={entries}
          selected={entries[position]?.id}
          camera={filter.camera}
          reached={reached}
          onFurther={() => void readFurther(grouped)}
          onDay={(day) => onFilter({ day })}
          onSelect={select}
        />
      )}
      <section class="review-list" aria-label={t('List')}>
        <p class="fault">{fault}</p>
        {filter.like !== '' && (
          <p class="quiet">
            {t('Changes like “{sentence}”', { sentence: changes.value.get(filter.like)?.caption ?? filter.like })}{' '}
            <button type="button" onClick={() => onFilter({ like: '' })}>
              {t('All changes')}
            </button>
          </p>
        )}
        {searches && <Understood summary={hits.value.summary} />}
        {entries.length > 0 ? (
          <ChangeList
            entries={entries}
            columns={isNarrow.value || isDetailed ? 1 : Math.max(1, Math.floor(innerWidth / LEAST_WIDTH))}
            selected={entries[position]?.id}
            onSelect={(id, { ctrlKey, metaKey, shiftKey }) => {
              if (ctrlKey || metaKey) toggleMark(id);
              else if (shiftKey) markRange(entries, entries[position]?.id, id);
              else {
                unmark();
                select(id);
              }
            }}
            onView={setLastVisible}
            {...(searches ? { matches: hits.value.matches } : {})}
          />
        ) : (
          !(isReading || isPart) && <Empty isFiltered={queryOf(filter).size > 0} />
        )}
      </section>
      <section class="review-detail" aria-label={t('Selected change')}>
        {isNarrow.value && selected !== undefined && (
          <Link class="back" href={`/review${query.size === 0 ? '' : `?${query}`}`}>
            ‹ {t('List')}
          </Link>
        )}
        {marked.value.size > 0 && <Bulk entries={chosen} />}
        {marked.value.size === 0 && change !== undefined && (
          <Detail change={change} onNext={step(1)} onChoose={toggle} />
        )}
        {marked.value.size === 0 && visit !== undefined && (
          <VisitDetail visit={visit} changes={entries[position]?.changes ?? []} onNext={step(1)} onChoose={toggle} />
        )}
        {change === undefined && visit === undefined && missing === selected && selected !== undefined && (
          <p class="fault">
            {selected.startsWith('vis_')
              ? t('There is no visit {id}: it never was or has expired.', { id: selected })
              : t('There is no change {id}: it never was or has expired.', { id: selected })}
          </p>
        )}
        {selected === undefined && entries.length > 0 && (
          <p class="quiet">
            {tx('Open a line, or press {j}. Choose several with {x}, or all of them with {all}.', {
              j: <kbd>j</kbd>,
              x: <kbd>x</kbd>,
              all: <kbd>*</kbd>,
            })}
          </p>
        )}
      </section>
    </div>
  );
}

const Empty = ({ isFiltered }: { readonly isFiltered: boolean }) => (
  <p class="quiet">
    {isFiltered
      ? t('No change fits.')
      : t('No change yet. Changes come from cameras: set one up under Cameras and send its frames.')}
    {!isFiltered && (
      <span class="first-steps">
        <Link href="/cameras">{t('New camera')}</Link>
        <Link href="/try">{t('Compare two pictures')}</Link>
      </span>
    )}
  </p>
);
