/** The list of visits and changes. */
import type { ComponentChildren } from 'preact';
import { frameAddress, localAddress } from '../api/client.js';
import type { Change, ChangeMatch, Visit } from '../api/types.js';
import { t } from '../texts/texts.js';
import { ago, shortSpan, shownTime } from '../ui/format.js';
import { Thumbnail } from '../ui/thumbnail.js';
import { VirtualList } from '../ui/virtual-list.js';
import { isOf, pending, withPending } from './actions.js';
import { marked } from './marks.js';
import { zoneName } from './store.js';
import type { Entry } from './visits.js';

interface Props {
  readonly entries: readonly Entry[];
  readonly selected: string | undefined;
  readonly onSelect: (id: string, event: MouseEvent) => void;
  readonly onView: (last: number) => void;
  /** of the hits of a search, by id */
  readonly matches?: ReadonlyMap<string, ChangeMatch>;
}

export const ChangeList = ({ entries, matches, ...given }: Props) => (
  <VirtualList label={t('Changes')} items={entries} idOf={({ id }) => id} marked={marked.value} {...given}>
    {({ id, visit, changes }) =>
      visit === null ? (
        changes.map((change) => <Row key={id} change={withPending(change)} match={matches?.get(id)} />)
      ) : (
        <VisitRow visit={visit} changes={changes.length} />
      )
    }
  </VirtualList>
);

const VisitRow = ({ visit, changes }: { readonly visit: Visit; readonly changes: number }) => (
  <PictureRow picture={visit.picture ? localAddress(visit.picture.url) : null} sentence={visit.caption}>
    <span>{visit.camera}</span>
    <time dateTime={visit.first_seen}>{shortSpan(visit.first_seen, visit.last_seen)}</time>
    {visit.status === 'open' && <b>{t('still there')}</b>}
    {changes > 0 && <span>{t('{n} change|{n} changes', { n: changes })}</span>}
  </PictureRow>
);

function Row({ change, match }: { readonly change: Change; readonly match: ChangeMatch | undefined }) {
  const zone = zoneName(change.camera, change.zone);
  // A thing that has left is in the frame before.
  const side = change.regions.every((region) => region.side === 'before') ? 'before' : 'after';
  return (
    <PictureRow
      picture={frameAddress(change.comparisons.best, side, 'small')}
      sentence={change.feedback?.caption ?? change.caption}
    >
      <span>{change.camera}</span>
      {zone !== '' && <span>{zone}</span>}
      <span>{t(change.severity)}</span>
      <time dateTime={change.confirmed_at} title={shownTime(change.confirmed_at)}>
        {ago(change.confirmed_at)}
      </time>
      <Marks change={change} />
      {match !== undefined && <MatchedWords match={match} />}
    </PictureRow>
  );
}

interface PictureRowProps {
  readonly picture: string | null;
  readonly sentence: string;
  /** facts */
  readonly children: ComponentChildren;
}

const PictureRow = ({ picture, sentence, children }: PictureRowProps) => (
  <div class="picture-row">
    <Thumbnail src={picture} />
    <span class="row-title" title={sentence}>
      {sentence}
    </span>
    <span class="row-facts">{children}</span>
  </div>
);

/** The words of a search that the change has; all of them in its title, because a narrow row cuts them off. */
function MatchedWords({ match }: { readonly match: ChangeMatch }) {
  const text = t('matched: {words}', { words: [...new Set(match.words.map(({ matched }) => matched))].join(', ') });
  return (
    <span class="matched" title={text}>
      {text}
    </span>
  );
}

/** Marks of a change: its judgement, acknowledgement and end, in words. */
export function Marks({ change }: { readonly change: Change }) {
  const { feedback, acknowledged_at, reverted_at } = change;
  const isPending = pending.value.some((entry) => isOf(entry, change));
  return (
    <>
      {feedback !== null && <b>{feedback.judgement === 'correct' ? t('right') : t('false alarm')}</b>}
      {acknowledged_at !== null && <b>{t('acknowledged')}</b>}
      {isPending && <span>{t('not saved yet')}</span>}
      {reverted_at !== null && <span>{t('over')}</span>}
    </>
  );
}
