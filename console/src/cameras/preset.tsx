/** The first question about a camera: what its alerts are about. Rules of one's own take the place of an answer. */
import type { Camera } from '../api/types.js';
import { t } from '../texts/texts.js';

export type Preset = NonNullable<Camera['preset']>;

const PRESETS: readonly (readonly [Preset, string])[] = [
  ['people', t('people')],
  ['people_at_night', t('people at night')],
  ['things_left_or_taken', t('things left or taken')],
  ['vehicles', t('vehicles')],
  ['everything', t('everything')],
  ['nothing', t('nothing')],
];

interface Props {
  readonly value: Preset | null;
  readonly onValue: (preset: Preset) => void;
}

export const PresetChoice = ({ value, onValue }: Props) => (
  <fieldset class="presets">
    <legend>{t('Alert me about')}</legend>
    {PRESETS.map(([preset, name]) => (
      <label key={preset}>
        <input type="radio" name="preset" checked={value === preset} onChange={() => onValue(preset)} />
        {name}
      </label>
    ))}
  </fieldset>
);
