/** How the service understood the words of a search. */
import type { ChangeSearch } from '../api/types.js';

export function Understood({ summary }: { readonly summary: ChangeSearch | null }) {
  if (summary === null) return null;
  const { interpreted_as, unknown_words, all_words, complete, words_alone } = summary;
  const isLate = words_alone === 'no_worker';
  if (interpreted_as.length === 0 && unknown_words.length === 0 && all_words && complete && !isLate) return null;
  return (
    <ul class="understood" aria-label="How the search was understood">
      {interpreted_as.map(({ word, as, by }) => (
        <li key={word}>
          <b>{word}</b> read as <b>{as.join(', ')}</b> ({by})
        </li>
      ))}
      {unknown_words.length > 0 && (
        <li>
          unknown: <b>{unknown_words.join(', ')}</b>
        </li>
      )}
      {!all_words && <li>No change matches all of these words: the nearest come first.</li>}
      {isLate && <li>No worker answered in time: searched by words alone, not by what the frames show.</li>}
      {!complete && <li>The service has just started and still reads earlier changes.</li>}
    </ul>
  );
}
