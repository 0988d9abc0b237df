/** One visit: its sentence, the frame that shows it best with its way, its times, and the changes of it. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { may } from '../access.js';
import { localAddress } from '../api/client.js';
import type { Change, Visit } from '../api/types.js';
import { Severity } from '../brand/severity.js';
import { UNITS } from '../pair/outlines.js';
import { session } from '../session.js';
import { t } from '../texts/texts.js';
import { Evidence, Fact } from '../ui/fact.js';
import { shownSpan, shownTime } from '../ui/format.js';
import { ActionBar } from './action-bar.js';
import { act, undo, withPending } from './actions.js';
import { Marks, severityOf } from './list.js';
import { cameraName } from './store.js';
import { judgedOf } from './visits.js';

interface Props {
  readonly visit: Visit;
  readonly changes: readonly Change[];
  readonly onNext: () => void;
  readonly onChoose: () => void;
}

export function VisitDetail({ visit: stored, changes, onNext, onChoose }: Props) {
  const visit = withPending(stored);
  const level = severityOf(visit, changes);
  return (
    <article class="detail">
      <p class="sentence plain-sentence">{visit.feedback?.caption ?? visit.caption}</p>
      <Picture key={visit.best.comparison} visit={visit} />
      {may('judge') && <Judgements visit={stored} changes={changes} onNext={onNext} onChoose={onChoose} />}
      <Facts visit={visit} changes={changes} level={level} />
    </article>
  );
}

/** The same buttons as those of a change; they are about the visit and its changes. */
function Judgements({ visit, changes, onNext, onChoose }: Props) {
  const admin = session.value?.admin ?? false;
  const actThenNext = (action: Parameters<typeof act>[1]) => () => {
    act(judgedOf({ visit, changes }), action);
    onNext();
  };
  const actions = [
    ['r', t('Right'), actThenNext({ kind: 'feedback', judgement: 'correct' })],
    ['f', t('False alarm'), actThenNext({ kind: 'feedback', judgement: 'false_alarm' })],
    ['a', t('Acknowledge'), actThenNext({ kind: 'acknowledge' })],
    ...(admin && changes.length > 0 ? ([['n', t('Normal here'), actThenNext({ kind: 'normal' })]] as const) : []),
    ['u', t('Undo'), () => undo()],
    ['x', t('Choose'), onChoose],
  ] as const;
  return <ActionBar actions={actions} />;
}

interface FactsProps extends Pick<Props, 'visit' | 'changes'> {
  readonly level: Change['severity'] | null;
}

const Facts = ({ visit, changes, level }: FactsProps) => (
  <>
    {changes.length > 0 && (
      <ul class="visit-changes" aria-label={t('Changes of this visit')}>
        {changes.map(({ id, caption, confirmed_at }) => (
          <li key={id}>
            <Link href={`/review/${id}`}>{caption}</Link> {shownTime(confirmed_at)}
          </li>
        ))}
      </ul>
    )}
    <dl class="detail-facts">
      <Fact name={t('Camera')}>{cameraName(visit.camera)}</Fact>
      {level !== null && (
        <Fact name={t('Severity')}>
          <Severity level={level} name={t(level)} />
        </Fact>
      )}
      <Fact name={visit.there_before ? t('There since') : t('First seen')}>{shownTime(visit.first_seen)}</Fact>
      <Fact name={t('Last seen')}>{shownTime(visit.last_seen)}</Fact>
      {visit.gone !== null && <Fact name={t('Gone')}>{shownSpan(visit.gone.after, visit.gone.before)}</Fact>}
      <Fact name={t('Shown at')}>{shownTime(visit.best.at)}</Fact>
      <Fact name={t('Identity')}>{t(visit.identity)}</Fact>
      <Fact name={t('State')}>
        {t(visit.end ?? visit.status)} <Marks record={visit} />
      </Fact>
      <Evidence of={`visit=${visit.id}`} />
    </dl>
  </>
);

/** The drawing is stretched over the picture; its lines keep their width. */
function Picture({ visit: { best, path, picture, identity } }: Pick<Props, 'visit'>) {
  const [gone, setGone] = useState(false);
  if (picture === undefined || gone) return <p class="frame-gone">{t('The frame is not available any more.')}</p>;
  const unit = (share: number) => Math.round(share * UNITS);
  const { x, y, width, height } = best.box;
  const box = `M${unit(x)} ${unit(y)}h${unit(width)}v${unit(height)}h${-unit(width)}Z`;
  // The way of one of several would be a guess.
  const feet = (identity === 'certain' ? path : []).map(
    ({ box: at }) => `${unit(at.x + at.width / 2)} ${unit(at.y + at.height)}`,
  );
  return (
    <div class="frame">
      <img src={localAddress(picture.url)} alt={t('The visit where it is seen best')} onError={() => setGone(true)} />
      <svg viewBox={`0 0 ${UNITS} ${UNITS}`} preserveAspectRatio="none" aria-hidden="true" data-outline="visit">
        {[box, ...(feet.length > 0 ? [`M${feet.join('L')}`] : [])].map((d) => (
          <g key={d}>
            <path class="casing" d={d} />
            <path class="line" d={d} />
          </g>
        ))}
      </svg>
    </div>
  );
}
