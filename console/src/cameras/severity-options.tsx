/** The severities as options of a choice. */
import { SEVERITIES } from '../api/types.js';

export const SeverityOptions = () => (
  <>
    {SEVERITIES.map((severity) => (
      <option key={severity} value={severity}>
        {severity}
      </option>
    ))}
  </>
);
