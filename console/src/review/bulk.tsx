/** The chosen lines, which are judged at once: one key each. */
import { may } from '../access.js';
import { t } from '../texts/texts.js';
import { ActionBar } from './action-bar.js';
import { act, undo } from './actions.js';
import { unmark } from './marks.js';
import { type Entry, judgedOf } from './visits.js';

/** Sentences that are listed. */
const LISTED = 12;

export function Bulk({ entries }: { readonly entries: readonly Entry[] }) {
  const actThenUnmark = (action: Parameters<typeof act>[1]) => () => {
    if (entries.length > 0) act(entries.flatMap(judgedOf), action);
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
      <h2>{t('{n} entry chosen|{n} entries chosen', { n: entries.length })}</h2>
      <ActionBar actions={may('judge') ? actions : actions.slice(-1)} />
      <ul class="chosen">
        {entries.slice(0, LISTED).map((entry) => (
          <li key={entry.id}>{judgedOf(entry)[0]?.caption}</li>
        ))}
        {entries.length > LISTED && <li>{t('… {n} more', { n: entries.length - LISTED })}</li>}
      </ul>
    </article>
  );
}
