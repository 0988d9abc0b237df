/** The chosen changes, which are judged at once: one key each. */
import { may } from '../access.js';
import type { Change } from '../api/types.js';
import { t } from '../texts/texts.js';
import { ActionBar } from './action-bar.js';
import { act, undo } from './actions.js';
import { unmark } from './marks.js';

/** Sentences that are listed. */
const LISTED = 12;

export function Bulk({ changes }: { readonly changes: readonly Change[] }) {
  const actThenUnmark = (action: Parameters<typeof act>[1]) => () => {
    if (changes.length > 0) act(changes, action);
    unmark();
  };
  const actions = [
    ['r', t('Right'), actThenUnmark({ kind: 'feedback', judgement: 'correct' })],
    ['f', t('False alarm'), actThenUnmark({ kind: 'feedback', judgement: 'false_alarm' })],
    ['a', t('Acknowledge'), actThenUnmark({ kind: 'acknowledge' })],
    ['u', t('Undo'), () => undo()],
    ['Escape', t('Choose none'), unmark],
  ] as const;
  return (
    <article class="detail">
      <h2>{t('{n} change chosen|{n} changes chosen', { n: changes.length })}</h2>
      <ActionBar actions={may('judge') ? actions : actions.slice(-1)} />
      <ul class="chosen">
        {changes.slice(0, LISTED).map(({ id, caption }) => (
          <li key={id}>{caption}</li>
        ))}
        {changes.length > LISTED && <li>{t('… {n} more', { n: changes.length - LISTED })}</li>}
      </ul>
    </article>
  );
}
