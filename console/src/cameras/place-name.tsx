/** How sentences call a zone: the word before its name, and an example in the words of the service. */
import { useSignal } from '@preact/signals';
import { zonePhrase } from '../../../src/camera/settings/zone-phrase.js';
import type { Zone } from '../api/types.js';
import { t } from '../texts/texts.js';

const COMMON = ['in', 'on', 'at', 'by', 'near', 'next to', 'behind', 'in front of', 'under', 'outside'];
/** Values of the choice that are no preposition. */
const [AUTOMATIC, NONE, OTHER] = ['automatic', 'none', 'other'];

interface Props {
  /** an include zone; the names of the others are in no sentence */
  readonly zone: Zone;
  readonly onChange: (preposition: string | null) => void;
}

export function PlaceName({ zone, onChange }: Props) {
  const { preposition } = zone;
  const isOther = useSignal(preposition !== null && preposition !== '' && !COMMON.includes(preposition));
  const phrase = zonePhrase(zone);
  const automatic = zonePhrase({ ...zone, preposition: null });
  if (phrase === null) return <p class="quiet">{t('Without a name, sentences use the words of the model.')}</p>;
  const chosen = isOther.value ? OTHER : preposition === null ? AUTOMATIC : preposition === '' ? NONE : preposition;
  const choose = (value: string) => {
    isOther.value = value === OTHER;
    if (value !== OTHER) onChange(value === AUTOMATIC ? null : value === NONE ? '' : value);
  };
  return (
    <>
      <label>
        {t('Word before the name')}
        <select name="zones.preposition" value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
          <option value={AUTOMATIC}>{t('by the name: {place}', { place: automatic?.at ?? '' })}</option>
          <option value={NONE}>{t('none')}</option>
          {COMMON.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
          <option value={OTHER}>{t('another …')}</option>
        </select>
      </label>
      {isOther.value && (
        <label>
          {t('Another word')}
          <input
            maxLength={32}
            pattern="[a-z]+( [a-z]+){0,2}"
            title={t('One to three words of small letters')}
            placeholder="opposite"
            value={preposition ?? ''}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
        </label>
      )}
      <p class="quiet clip" role="status">
        A white van has appeared <b>{phrase.at}</b>.
        <br />A white van has moved from <b>{phrase.end}</b> to …
      </p>
    </>
  );
}
