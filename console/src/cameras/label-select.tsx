/** Choice of one of the labels that cameras have. */
import type { Camera } from '../api/types.js';
import { t } from '../texts/texts.js';
import { labelsOf } from './store.js';

interface Props {
  readonly cameras: readonly Pick<Camera, 'labels'>[];
  /** empty: all */
  readonly value: string;
  readonly onValue: (value: string) => void;
}

export function LabelSelect({ cameras, value, onValue }: Props) {
  // The chosen one may be that of a link, or of a camera that is not listed now.
  const labels = labelsOf(value === '' ? cameras : [...cameras, { labels: [value] }]);
  return (
    <select aria-label={t('Label')} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
      <option value="">{t('all labels')}</option>
      {labels.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}
