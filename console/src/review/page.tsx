/** The page "Review": the live list of visits and changes, filters, and the selected one. */
import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation, useSearchParams } from 'wouter-preact';
import { recoveries } from '../api/connection.js';
import { live, watchEvents } from '../api/events.js';
import { useKeys } from '../ui/keys.js';
import { usePolling } from '../ui/polling.js';
import '../styles/review.css';
import { resumeActions } from './actions.js';
import { Detail } from './detail.js';
import { briefOf, type Filter, filterOf, isGrouped, isSearch, isShown, matches, queryOf, spanOf } from './filter.js';
import { Filters } from './filters.js';
import { ChangeList } from './list.js';
import { hits, searchFault, searchFor, searching, searchMore } from './search.js';
import { byTime, changes, loadCameras, loadChange, loadChanges, loadFault, loading, onLiveEvent } from './store.js';
import { Understood } from './understood.js';
import { VisitDetail } from './visit-detail.js';
import {
  entryOf,
  followOpenVisits,
  groupedByVisit,
  loadVisit,
  loadVisits,
  onVisitEvent,
  visitFault,
  visits,
} from './visits.js';

const FOLLOW_MS = 5000;

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
    void loadChanges();
    void loadVisits();
  });
  useEffect(() => {
    if (filter.day === '') return;
    void loadChanges(spanOf(filter.day));
    void loadVisits(spanOf(filter.day));
  }, [filter.day]);
  const searches = isSearch(filter);
  useEffect(() => searchFor(filter), [queryOf(filter).toString(), recoveries.value]);
  useEffect(() => {
    if (selected === undefined || changes.peek().has(selected) || visits.peek().has(selected)) return;
    const found = selected.startsWith('vis_') ? loadVisit(selected) : loadChange(selected);
    found.then(
      (read) => setMissing(read === undefined ? selected : null),
      () => undefined,
    );
  }, [selected]);

  const shown = searches
    ? hits.value.ids.flatMap((id) => changes.value.get(id) ?? [])
    : byTime.value.filter((change) => matches(change, filter));
  const shownVisits = isGrouped(filter) ? [...visits.value.values()].filter((visit) => isShown(visit, filter)) : [];
  const entries = shownVisits.length === 0 ? shown.map(entryOf) : groupedByVisit(shown, shownVisits);
  const position = entries.findIndex(
    (entry) => entry.id === selected || entry.changes.some(({ id }) => id === selected),
  );
  const change = selected === undefined ? undefined : changes.value.get(selected);
  const visit = selected === undefined ? undefined : visits.value.get(selected);
  const left = shownVisits.length === 0 ? shown.length : entries.length - shownVisits.length;
  const select = (id: string | undefined) => {
    const text = queryOf(filter).toString();
    if (id !== undefined)
      navigate(`/review/${id}${text === '' ? '' : `?${text}`}`, { replace: selected !== undefined });
  };
  const step = (by: number) => () => select(entries[Math.min(Math.max(position + by, 0), entries.length - 1)]?.id);
  // Each choice is a step of the browser's history; typed letters are not.
  const onFilter = (part: Partial<Filter>) =>
    setQuery(queryOf({ ...filter, ...part }), { replace: part.q !== undefined && filter.q !== '' });
  useKeys({
    j: step(1),
    ArrowDown: step(1),
    k: step(-1),
    ArrowUp: step(-1),
    '/': () => search.current?.focus(),
  });
  return (
    <div class="review">
      <details class="review-filters" open={matchMedia('(min-width: 60rem)').matches}>
        <summary>Filter</summary>
        <Filters filter={filter} search={search} onFilter={onFilter} />
      </details>
      <section class="review-list" aria-label="List">
        <header class="review-head">
          <h1>Changes</h1>
          <a href={briefOf(filter)}>{filter.day === '' ? 'Brief of today' : 'Brief of this day'}</a>
        </header>
        <p class="quiet" role="status">
          {searches && hits.value.cursor !== null && 'the first '}
          {shownVisits.length > 0 && `${shownVisits.length} ${shownVisits.length === 1 ? 'visit' : 'visits'}, and `}
          {left} {left === 1 ? 'change' : 'changes'}
          {searches ? searching.value && ', searching …' : loading.value && ', reading …'}
          {live.value && ', live'}
          <kbd>j</kbd>
          <kbd>k</kbd>
        </p>
        <p class="fault">{searches ? searchFault.value : loadFault.value || visitFault.value}</p>
        {filter.like !== '' && (
          <p class="quiet">
            Changes like “{changes.value.get(filter.like)?.caption ?? filter.like}”{' '}
            <button type="button" onClick={() => onFilter({ like: '' })}>
              All changes
            </button>
          </p>
        )}
        {searches && <Understood summary={hits.value.summary} />}
        {entries.length > 0 ? (
          <ChangeList
            entries={entries}
            selected={entries[position]?.id}
            onSelect={select}
            {...(searches ? { matches: hits.value.matches } : {})}
          />
        ) : (
          !(searches ? searching.value : loading.value) && <Empty isFiltered={queryOf(filter).size > 0} />
        )}
        {searches && hits.value.cursor !== null && (
          <button type="button" disabled={searching.value} onClick={() => void searchMore(filter)}>
            More
          </button>
        )}
      </section>
      <section class="review-detail" aria-label="Selected change">
        {change !== undefined && <Detail change={change} onNext={step(1)} />}
        {visit !== undefined && <VisitDetail visit={visit} changes={entries[position]?.changes ?? []} />}
        {change === undefined && visit === undefined && missing === selected && selected !== undefined && (
          <p class="fault">
            There is no {selected.startsWith('vis_') ? 'visit' : 'change'} {selected}: it never was or has expired.
          </p>
        )}
        {selected === undefined && entries.length > 0 && (
          <p class="quiet">
            Choose a line, or press <kbd>j</kbd>.
          </p>
        )}
      </section>
    </div>
  );
}

const Empty = ({ isFiltered }: { readonly isFiltered: boolean }) => (
  <p class="quiet">
    {isFiltered
      ? 'No change fits.'
      : 'No change yet. Changes come from cameras: set one up under Cameras and send its frames.'}
  </p>
);
