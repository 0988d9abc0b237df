/** The report of `scenedelta tune`, as a value and as text. */
import type { Tuned } from '../../model/manifest.js';

export interface Tuning extends Omit<Tuned, 'from'> {
  readonly from: Pick<Tuned['from'], 'name' | 'version'>;
  /** folder of the bundle; null: nothing was accepted, so none was written */
  readonly to: string | null;
  /** number of check pairs */
  readonly checked: number;
}

const TITLES: Readonly<Record<string, string>> = {
  verdict: 'probability of a change',
  cameras: 'thresholds of cameras',
  priors: 'nouns and colours',
};

export function formatTuning({ from, to, feedback, parts, checked }: Tuning): string {
  const { used = 0, ...others } = feedback;
  const left = Object.entries(others).filter(([, count]) => count > 0);
  const lines = [
    `${from.name} ${from.version}, ${used} feedback${left.length === 0 ? '' : ', left out: '}${left
      .map(([reason, count]) => `${count} ${reason}`)
      .join(', ')}`,
    ...parts.map(
      ({ part, accepted, reason }) => `${accepted ? 'kept' : 'not kept'}  ${TITLES[part] ?? part}: ${reason}`,
    ),
    checked === 0
      ? 'no --check pairs: only the latest feedback guards against a worse bundle'
      : `${checked} check pairs`,
    to === null
      ? 'nothing was accepted: no bundle is written'
      : `${to} is written; DEFAULT_MODEL, or "model" of a camera, makes the service use it`,
  ];
  return `${lines.join('\n')}\n`;
}
