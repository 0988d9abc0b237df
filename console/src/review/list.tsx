/** The list of visits and changes. */
import type { ComponentChildren } from 'preact';
import { cropAddress } from '../api/client.js';
import { type Box, type Change, type ChangeMatch, otherSide, SEVERITIES, type Side, type Visit } from '../api/types.js';
import { Severity } from '../brand/severity.js';
import { t } from '../texts/texts.js';
import { ago, shortSpan, shownTime } from '../ui/format.js';
import { isNarrow } from '../ui/narrow.js';
import { Thumbnail } from '../ui/thumbnail.js';
import { VirtualList } from '../ui/virtual-list.js';
import { isOf, type Judged, pending, withPending } from './actions.js';
import { marked } from './marks.js';
import { pictureOf } from './picture.js';
import { cameraName, zoneName } from './store.js';
import type { Entry } from './visits.js';

interface Props {
  readonly entries: readonly Entry[];
  readonly selected: string | undefined;
  readonly onSelect: (id: string, event: MouseEvent) => void;
  readonly onView: (last: number) => void;
  /** lines beside each other */
  readonly columns: number;
  /** of the hits of a search, by id */
  readonly matches?: ReadonlyMap<string, ChangeMatch>;
}

/** Heights of a row with its picture, px: beside the text, and on a telephone above it. */
const ROW = { wide: 174, narrow: 324 } as const;

export const ChangeList = ({ entries, matches, ...given }: Props) => (
  <VirtualList
    label={t('Changes')}
    row={isNarrow.value ? ROW.narrow : ROW.wide}
    items={entries}
    idOf={({ id }) => id}
    marked={marked.value}
    {...given}
  >
    {({ id, visit, changes }, isActive) =>
      visit === null ? (
        changes.map((change) => (
          <Row key={id} change={withPending(change)} match={matches?.get(id)} isActive={isActive} />
        ))
      ) : (
        <VisitRow visit={withPending(visit)} changes={changes.map(withPending)} isActive={isActive} />
      )
    }
  </VirtualList>
);

interface VisitRowProps {
  readonly visit: Visit;
  readonly changes: readonly Change[];
  readonly isActive: boolean;
}

function VisitRow({ visit, changes, isActive }: VisitRowProps) {
  const { best, caption, camera, first_seen, last_seen, status, acknowledged_at = null } = visit;
  const isKnown = changes.length > 0 && changes.every((change) => change.acknowledged_at !== null);
  return (
    <PictureRow
      picture={best}
      sentence={visit.feedback?.caption ?? caption}
      severity={severityOf(visit, changes)}
      camera={camera}
      time={<time dateTime={first_seen}>{shortSpan(first_seen, last_seen)}</time>}
      isActive={isActive}
    >
      {status === 'open' && <b>{t('still there')}</b>}
      {changes.length > 0 && <span>{t('{n} change|{n} changes', { n: changes.length })}</span>}
      <Marks record={visit} />
      {isKnown && acknowledged_at === null && <b>{t('acknowledged')}</b>}
    </PictureRow>
  );
}

/** @returns that of its alert, or the highest of its changes; null: nothing says how severe it is */
export function severityOf({ alert }: Visit, changes: readonly Change[]): Change['severity'] | null {
  const levels = changes.map(({ severity }) => SEVERITIES.indexOf(severity));
  return alert?.severity ?? SEVERITIES[Math.max(-1, ...levels)] ?? null;
}

interface RowProps {
  readonly change: Change;
  readonly match: ChangeMatch | undefined;
  readonly isActive: boolean;
}

function Row({ change, match, isActive }: RowProps) {
  const zone = zoneName(change.camera, change.zone);
  return (
    <PictureRow
      picture={pictureOf(change)}
      sentence={change.feedback?.caption ?? change.ended?.caption ?? change.caption}
      severity={change.severity}
      camera={change.camera}
      time={
        <time dateTime={change.confirmed_at} title={shownTime(change.confirmed_at)}>
          {ago(change.confirmed_at)}
        </time>
      }
      isActive={isActive}
    >
      {zone !== '' && <span>{zone}</span>}
      <Marks record={change} />
      {match !== undefined && <MatchedWords match={match} />}
    </PictureRow>
  );
}

interface Picture {
  readonly comparison: string;
  /** the frame of it that shows the thing; the other one is played with it */
  readonly side: Side;
  /** null: the whole frame */
  readonly box: Box | null;
}

interface PictureRowProps {
  readonly picture: Picture;
  readonly sentence: string;
  readonly severity: Change['severity'] | null;
  readonly camera: string;
  readonly time: ComponentChildren;
  readonly isActive: boolean;
  /** further facts */
  readonly children: ComponentChildren;
}

const PictureRow = ({ picture, sentence, severity, camera, time, isActive, children }: PictureRowProps) => (
  <div class={`picture-row ${severity ?? ''}`}>
    <Thumbnail
      src={cropAddress(picture.comparison, picture.side, picture.box)}
      other={cropAddress(picture.comparison, otherSide(picture.side), picture.box)}
      isPlaying={isActive}
    >
      <span class="frame-gone">{t('The frame is not available any more.')}</span>
    </Thumbnail>
    <div class="picture-text">
      <span class="row-facts">
        {severity !== null && <Severity level={severity} name={t(severity)} />}
        {time}
      </span>
      <span class="row-title" title={sentence}>
        {sentence}
      </span>
      <span class="row-facts">
        <span>{cameraName(camera)}</span>
        {children}
      </span>
    </div>
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

/** Marks of a change or visit: its judgement, acknowledgement and, of a change, its end, in words. */
export function Marks({ record }: { readonly record: Judged }) {
  const { feedback, acknowledged_at } = record;
  const isPending = pending.value.some((entry) => isOf(entry, record));
  return (
    <>
      {feedback != null && <b>{feedback.judgement === 'correct' ? t('right') : t('false alarm')}</b>}
      {acknowledged_at != null && <b>{t('acknowledged')}</b>}
      {isPending && <span>{t('not saved yet')}</span>}
      {'reverted_at' in record && record.reverted_at !== null && <span>{t('over')}</span>}
    </>
  );
}
