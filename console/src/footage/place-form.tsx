/** Fields of a search for the moment at which one place changed: a box on a frame of the recording, and its limits. */
import type { Signal } from '@preact/signals';
import type { Box, Camera } from '../api/types.js';
import { t } from '../texts/texts.js';
import { PlaceOnView } from './place-on-view.js';
import type { BatchOptions } from './send.js';

/** Entries of the user; an empty text is left out of the request. */
export interface PlaceDraft {
  readonly box: Box | null;
  /** longest time for which something may stand before the place, seconds */
  readonly covered: string;
  readonly from: string;
  readonly until: string;
}
export const NO_PLACE: PlaceDraft = { box: null, covered: '60', from: '', until: '' };

/** The members of a request of mode when; null until there is a place. */
export function searchOf({ box, covered, from, until }: PlaceDraft): BatchOptions | null {
  if (box === null) return null;
  return {
    mode: 'when',
    roi: box,
    ...(covered === '' ? {} : { covered_s: Number(covered) }),
    ...(from === '' && until === '' ? {} : { between: [from.trim(), until.trim()] }),
  };
}

interface Props {
  readonly draft: Signal<PlaceDraft>;
  /** the first recording of this computer, which has the frames; undefined: there is none */
  readonly recording: File | undefined;
  readonly cameras: readonly Camera[];
}

export function PlaceFields({ draft, recording, cameras }: Props) {
  const set = (part: Partial<PlaceDraft>) => {
    draft.value = { ...draft.value, ...part };
  };
  const { box, covered, from, until } = draft.value;
  return (
    <fieldset class="place-form">
      <legend class="quiet">{t('Place')}</legend>
      <PlaceOnView recording={recording} cameras={cameras} box={box} onBox={(drawn) => set({ box: drawn })} />
      <div class="place-limits">
        <label>
          {t('Not before')}
          <input
            placeholder="12.5s"
            maxLength={64}
            required={until !== ''}
            value={from}
            onInput={(event) => set({ from: event.currentTarget.value })}
          />
        </label>
        <label>
          {t('Not after')}
          <input
            placeholder="01:45:00"
            maxLength={64}
            required={from !== ''}
            value={until}
            onInput={(event) => set({ until: event.currentTarget.value })}
          />
        </label>
        <label>
          {t('Covered at most (s)')}
          <input
            type="number"
            min="0"
            max="86400"
            title={t('Something that stands before the place for less time is no change')}
            value={covered}
            onInput={(event) => set({ covered: event.currentTarget.value })}
          />
        </label>
      </div>
    </fieldset>
  );
}
