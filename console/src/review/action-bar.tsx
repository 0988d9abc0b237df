/** The buttons for what is chosen in Review, and their keys. */
import { t } from '../texts/texts.js';
import { useKeys } from '../ui/keys.js';

/** Key as KeyboardEvent names it, name, and what it does. */
type Action = readonly [key: string, name: string, run: () => void];

export function ActionBar({ actions }: { readonly actions: readonly Action[] }) {
  useKeys(Object.fromEntries(actions.map(([key, , run]) => [key, run])));
  return (
    <div class="detail-actions" role="toolbar" aria-label={t('Actions')}>
      {actions.map(([key, name, run]) => (
        <button key={key} type="button" aria-keyshortcuts={key} onClick={run}>
          {name}
          <kbd>{key === 'Escape' ? 'Esc' : key}</kbd>
        </button>
      ))}
    </div>
  );
}
