/** The list of visits and changes. */
import type { ComponentChildren } from 'preact';
import { frameAddress } from '../api/client.js';
import { type Change, type ChangeMatch, otherSide, type Side, type Visit } from '../api/types.js';
import { t } from '../texts/texts.js';
import { ago, shortSpan, shownTime } from '../ui/format.js';
import { Thumbnail } from '../ui/thumbnail.js';
import { VirtualList } from '../ui/virtual-list.js';
import { isOf, pending, withPending } from './actions.js';
import { marked } from './marks.js';
import { cameraName, zoneName } from './store.js';
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
    {({ id, visit, changes }, isActive) =>
      visit === null ? (
        changes.map((change) => (
          <Row key={id} change={withPending(change)} match={matches?.get(id)} isActive={isActive} />
        ))
      ) : (
        <VisitRow visit={visit} changes={changes.length} isActive={isActive} />
      )
    }
  </VirtualList>
);

interface VisitRowProps {
  readonly visit: Visit;
  /** number of them */
  readonly changes: number;
  readonly isActive: boolean;
}

const VisitRow = ({ visit, changes, isActive }: VisitRowProps) => (
  <PictureRow {...visit.best} sentence={visit.caption} isActive={isActive}>
    <span>{cameraName(visit.camera)}</span>
    <time dateTime={visit.first_seen}>{shortSpan(visit.first_seen, visit.last_seen)}</time>
    {visit.status === 'open' && <b>{t('still there')}</b>}
    {changes > 0 && <span>{t('{n} change|{n} changes', { n: changes })}</span>}
  </PictureRow>
);

interface RowProps {
  readonly change: Change;
  readonly match: ChangeMatch | undefined;
  readonly isActive: boolean;
}

function Row({ change, match, isActive }: RowProps) {
  const zone = zoneName(change.camera, change.zone);
  // A thing that has left is in the frame before.
  const side = change.regions.every((region) => region.side === 'before') ? 'before' : 'after';
  return (
    <PictureRow
      comparison={change.comparisons.best}
      side={side}
      sentence={change.feedback?.caption ?? change.ended?.caption ?? change.caption}
      isActive={isActive}
    >
      <span>{cameraName(change.camera)}</span>
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
  readonly comparison: string;
  /** the frame of it that shows the thing; the other one is played with it */
  readonly side: Side;
  readonly sentence: string;
  readonly isActive: boolean;
  /** facts */
  readonly children: ComponentChildren;
}

const PictureRow = ({ comparison, side, sentence, isActive, children }: PictureRowProps) => (
  <div class="picture-row">
    <Thumbnail
      src={frameAddress(comparison, side, 'small')}
      other={frameAddress(comparison, otherSide(side), 'small')}
      isPlaying={isActive}
    />
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
