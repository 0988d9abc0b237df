/** The severities as options of a choice. */
import { SEVERITIES } from '../api/types.js';
import { t } from '../texts/texts.js';

export const SeverityOptions = () => (
  <>
    {SEVERITIES.map((severity) => (
      <option key={severity} value={severity}>
        {t(severity)}
      </option>
    ))}
  </>
);
