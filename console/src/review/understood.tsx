/** How the service understood the words of a search. */
import type { ChangeSearch } from '../api/types.js';
import { t, tx } from '../texts/texts.js';

export function Understood({ summary }: { readonly summary: ChangeSearch | null }) {
  if (summary === null) return null;
  const { interpreted_as, unknown_words, all_words, complete, words_alone } = summary;
  const isLate = words_alone === 'no_worker';
  if (interpreted_as.length === 0 && unknown_words.length === 0 && all_words && complete && !isLate) return null;
  return (
    <ul class="understood" aria-label={t('How the search was understood')}>
      {interpreted_as.map(({ word, as, by }) => (
        <li key={word}>
          {tx('{word} read as {words} ({reason})', {
            word: <b>{word}</b>,
            words: <b>{as.join(', ')}</b>,
            reason: t(by),
          })}
        </li>
      ))}
      {unknown_words.length > 0 && (
        <li>
          {t('unknown')}: <b>{unknown_words.join(', ')}</b>
        </li>
      )}
      {!all_words && <li>{t('No change matches all of these words: the nearest come first.')}</li>}
      {isLate && <li>{t('No worker answered in time: searched by words alone, not by what the frames show.')}</li>}
      {!complete && <li>{t('The service has just started and still reads earlier changes.')}</li>}
    </ul>
  );
}
