/** Inputs that could not be used, and why. */
import { t } from '../texts/texts.js';

interface Props {
  readonly failures: readonly { readonly file: string; readonly reason: string }[];
}

export function Failures({ failures }: Props) {
  if (failures.length === 0) return null;
  return (
    <details>
      <summary>{t('Inputs that could not be used')}</summary>
      <ul class="failures">
        {failures.map(({ file, reason }, i) => (
          <li key={i} class="clip">
            <b>{file}</b>: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}
