/** One change: its sentence, frames with outlines, facts, and the actions on it, one key each. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { may } from '../access.js';
import { ApiError, cropAddress, localAddress, messageOf } from '../api/client.js';
import { type Box, type Change, type Comparison, SIDES, type Side } from '../api/types.js';
import { Severity } from '../brand/severity.js';
import { PairView } from '../pair/pair-view.js';
import { Sentence } from '../pair/sentence.js';
import { useOutlines } from '../pair/use-outlines.js';
import { session } from '../session.js';
import { t } from '../texts/texts.js';
import { readComparison } from '../try/compare.js';
import { Evidence, Fact } from '../ui/fact.js';
import { percent, shownTime } from '../ui/format.js';
import { Thumbnail } from '../ui/thumbnail.js';
import { ActionBar } from './action-bar.js';
import { act, undo, withPending } from './actions.js';
import { Marks } from './list.js';
import { pictureOf } from './picture.js';
import { Share } from './share.js';
import { cameraName, zoneName } from './store.js';

interface Props {
  readonly change: Change;
  readonly onNext: () => void;
  readonly onChoose: () => void;
}

export function Detail({ change: stored, onNext, onChoose }: Props) {
  const change = withPending(stored);
  const [editing, setEditing] = useState(false);
  useEffect(() => setEditing(false), [stored.id]);
  const admin = session.value?.admin ?? false;
  const actThenNext = (action: Parameters<typeof act>[1]) => () => {
    act([stored], action);
    onNext();
  };
  const actions = [
    ['r', t('Right'), actThenNext({ kind: 'feedback', judgement: 'correct' })],
    ['f', t('False alarm'), actThenNext({ kind: 'feedback', judgement: 'false_alarm' })],
    ['a', t('Acknowledge'), actThenNext({ kind: 'acknowledge' })],
    ['e', t('Correct the sentence'), () => setEditing(true)],
    ...(admin ? ([['n', t('Normal here'), actThenNext({ kind: 'normal' })]] as const) : []),
    ['u', t('Undo'), () => undo()],
    ['x', t('Choose'), onChoose],
  ] as const;
  return (
    <article class="detail">
      {change.ended !== undefined && <p class="sentence plain-sentence">{change.ended.caption}</p>}
      <Frames change={change} />
      {editing && (
        <Correction
          caption={change.feedback?.caption ?? change.caption}
          onDone={(caption) => {
            setEditing(false);
            if (caption !== null) act([stored], { kind: 'feedback', judgement: 'correct', caption });
          }}
        />
      )}
      {may('judge') && <ActionBar actions={actions} />}
      <dl class="detail-facts">
        <Fact name={t('Camera')}>{cameraName(change.camera)}</Fact>
        {change.zone !== null && <Fact name={t('Zone')}>{zoneName(change.camera, change.zone)}</Fact>}
        <Fact name={t('Kind')}>{t(change.object?.value ?? change.kind)}</Fact>
        <Fact name={t('Severity')}>
          <Severity level={change.severity} name={t(change.severity)} />
        </Fact>
        {change.judged?.map(({ when, p }) => (
          <Fact key={when} name={t('Sentence of a rule')}>
            {when}: {percent(p)}
          </Fact>
        ))}
        <Fact name={t('Confidence')}>{percent(change.confidence)}</Fact>
        <Fact name={t('First seen')}>{shownTime(change.first_seen)}</Fact>
        <Fact name={t('Last seen')}>{shownTime(change.last_seen)}</Fact>
        {change.settled_at !== null && <Fact name={t('Settled')}>{shownTime(change.settled_at)}</Fact>}
        {change.reverted_at !== null && <Fact name={t('Gone')}>{shownTime(change.reverted_at)}</Fact>}
        <Fact name={t('State')}>
          {change.reverted_at === null && t(change.status)} <Marks record={change} />
        </Fact>
        <Fact name={t('Similar')}>
          <Link href={`/review?like=${change.id}`}>{t('changes like this one')}</Link>
        </Fact>
        <Evidence of={`change=${change.id}`} />
        <Share change={change.id} />
      </dl>
    </article>
  );
}

/** Frames of the comparison that describes the change best, outlined where the change itself is. */
function Frames({ change }: { readonly change: Change }) {
  const [comparison, setComparison] = useState<Comparison | null>(null);
  const [fault, setFault] = useState('');
  const word = useSignal<number | null>(null);
  const { best } = change.comparisons;
  useEffect(() => {
    let current = true;
    setFault('');
    word.value = null;
    readComparison(best).then(
      (read) => current && setComparison(read),
      (error: unknown) => {
        if (!current) return;
        setComparison(null);
        const gone = error instanceof ApiError && error.status === 404;
        setFault(gone ? t('The comparison of this change is no longer kept.') : messageOf(error));
      },
    );
    return () => {
      current = false;
    };
  }, [best]);
  const boxes = useMemo((): Record<Side, Box[]> => {
    const of = (side: Side) => change.regions.filter((region) => region.side === side).map(({ box }) => box);
    return { before: of('before'), after: of('after') };
  }, [change.regions]);
  const fitting = comparison?.id === best ? comparison : null;
  const outlines = useOutlines(fitting, word, boxes);
  const caption = change.feedback?.caption ?? change.caption;
  const link = (side: Side) => {
    const url = fitting?.frames?.[side]?.url;
    return url === undefined ? null : localAddress(url);
  };
  return (
    <>
      {fitting?.words && fitting.caption === caption ? (
        <Sentence words={fitting.words} word={word} />
      ) : (
        <p class="sentence plain-sentence">{caption}</p>
      )}
      {fault !== '' && <p class="fault">{fault}</p>}
      <div class={`detail-frames ${pictureOf(change).box === null ? '' : 'with-closeup'}`}>
        <Closeup change={change} />
        {fitting && <PairView urls={{ before: link('before'), after: link('after') }} outlines={outlines} />}
      </div>
    </>
  );
}

/** The thing itself, before and after. */
function Closeup({ change }: { readonly change: Change }) {
  const { comparison, box } = pictureOf(change);
  if (box === null) return null;
  return (
    <div class="closeup">
      {SIDES.map((side) => (
        <figure key={side}>
          <Thumbnail src={cropAddress(comparison, side, box)} />
          <figcaption>{t(side)}</figcaption>
        </figure>
      ))}
    </div>
  );
}

function Correction({ caption, onDone }: { caption: string; onDone: (caption: string | null) => void }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <form
      class="correction"
      onSubmit={(event) => {
        event.preventDefault();
        const text = field.current?.value.trim() ?? '';
        onDone(text === '' ? null : text);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onDone(null);
      }}
    >
      <label>
        {t('The right sentence')}
        <input ref={field} maxLength={500} defaultValue={caption} />
      </label>
      <button type="submit" class="primary">
        {t('Save')}
      </button>
      <button type="button" onClick={() => onDone(null)}>
        {t('Cancel')}
      </button>
    </form>
  );
}
