/** Result of a search: the interval in which the place changed, and the one in which it became again as it was. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Moment } from '../../../src/footage/records.js';
import { addressOf } from '../api/root.js';
import type { Side } from '../api/types.js';
import { boxPath, type Outlines } from '../pair/outlines.js';
import { PairView } from '../pair/pair-view.js';
import { t } from '../texts/texts.js';
import { Fact } from '../ui/fact.js';
import { percent, shownSpan, shownTime } from '../ui/format.js';
import { Failures } from './failures.js';
import { outlinesOf } from './outlines.js';
import type { PlaceInterval, PlaceSearch } from './store.js';
import { shownSeconds } from './times.js';

interface Props {
  readonly id: string;
  readonly search: PlaceSearch;
}

export function SearchView({ id, search }: Props) {
  const { changed, changed_back, frames, looks, comparisons, covered, failures } = search;
  const isBack = useSignal(false);
  const interval = isBack.value ? changed_back : changed;
  const choose = (back: boolean) => () => {
    isBack.value = back;
  };
  return (
    <section aria-label={t('Results')} class="results">
      {changed !== null && changed_back !== null && (
        <div class="pair-tools" role="toolbar" aria-label={t('Which interval')}>
          <button type="button" aria-pressed={!isBack.value} onClick={choose(false)}>
            {t('It changed')}
          </button>
          <button type="button" aria-pressed={isBack.value} onClick={choose(true)}>
            {t('It became as it was')}
          </button>
        </div>
      )}
      {interval === null ? (
        <>
          <p class="sentence plain-sentence">{t('No change was found at this place.')}</p>
          <p class="quiet">
            {covered.length === 0
              ? t('A state that lasts no longer than something may cover the place is no change.')
              : t(
                  'It looked otherwise for a while, as listed below. A shorter time for which something ' +
                    'may cover the place makes that a change.',
                )}
          </p>
        </>
      ) : (
        <Interval id={id} search={search} interval={interval} />
      )}
      <dl class="detail-facts">
        <Fact name={t('Frames to choose from')}>{frames}</Fact>
        <Fact name={t('Frames looked at')}>{looks}</Fact>
        <Fact name={t('Pairs compared')}>{comparisons}</Fact>
        {covered.length > 0 && <Fact name={t('Place covered at')}>{covered.map(shownMoment).join(', ')}</Fact>}
      </dl>
      <Failures failures={failures} />
    </section>
  );
}

function Interval({ id, search, interval }: Props & { readonly interval: PlaceInterval }) {
  const { before, after, exact, change, pictures } = interval;
  const urlOf = (side: Side) => (pictures === undefined ? null : addressOf(`/v1/batches/${id}/${pictures[side]}`));
  return (
    <article class="detail">
      <p class="sentence plain-sentence">{change.caption}</p>
      <p class="interval">
        {before.at === null || after.at === null
          ? `${shownMoment(before)} – ${shownMoment(after)}`
          : shownSpan(before.at, after.at)}
        {!exact && `. ${t('The place is covered in the frames between them.')}`}
      </p>
      <PairView
        urls={{ before: urlOf('before'), after: urlOf('after') }}
        outlines={useMemo(() => placeOutlines(search, interval), [search, interval])}
      />
      <dl class="detail-facts">
        <Fact name={t('Last frame before it')}>
          {before.file}, {shownSeconds(before.seconds)}
        </Fact>
        <Fact name={t('First frame after it')}>
          {after.file}, {shownSeconds(after.seconds)}
        </Fact>
        <Fact name={t('Kind')}>{t(change.kind)}</Fact>
        <Fact name={t('Confidence')}>{percent(change.confidence)}</Fact>
      </dl>
    </article>
  );
}

/** Contours of the change, which a small place may lack; then its regions, or else the place itself. */
function placeOutlines({ roi }: PlaceSearch, { change: { outlines, regions } }: PlaceInterval): Outlines {
  const found = outlinesOf({ regions, ...(outlines.length === 0 ? {} : { outlines }) });
  const place = boxPath([roi]);
  return found.before === '' && found.after === '' ? { before: place, after: place } : found;
}

const shownMoment = ({ at, seconds }: Moment): string => (at === null ? shownSeconds(seconds) : shownTime(at));
