/** Field for the id of a camera, with the rule of the service. */
import type { Signal } from '@preact/signals';
import { t } from '../texts/texts.js';

interface Props {
  readonly label: string;
  readonly id: Signal<string>;
  readonly placeholder: string;
  readonly required?: boolean;
}

export const CameraIdInput = ({ label, id, placeholder, required = false }: Props) => (
  <label>
    {label}
    <input
      required={required}
      maxLength={64}
      pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
      placeholder={placeholder}
      title={t('Letters, digits, dots, dashes and underscores')}
      value={id.value}
      onInput={(event) => {
        id.value = event.currentTarget.value;
      }}
    />
  </label>
);
