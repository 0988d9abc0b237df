/** The sentence of a comparison: a word under the pointer or the focus lights up its region in both frames. */
import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Comparison } from '../api/types.js';
import { t } from '../texts/texts.js';
import { percent } from '../ui/format.js';

interface Props {
  readonly words: NonNullable<Comparison['words']>;
  /** position of the word whose region is shown; null: the change as a whole */
  readonly word: Signal<number | null>;
}

/** One tab stop; the arrow keys move between the words. */
export function Sentence({ words, word }: Props) {
  const row = useRef<HTMLParagraphElement>(null);
  const move = (event: KeyboardEvent, i: number) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -words.length, End: words.length }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const target = Math.min(Math.max(i + step, 0), words.length - 1);
    row.current?.querySelectorAll<HTMLElement>('.word')[target]?.focus();
  };
  const show = (i: number | null) => () => {
    word.value = i;
  };
  return (
    <p class="sentence" ref={row} role="toolbar" aria-label={t('Words of the sentence')} onMouseLeave={show(null)}>
      {words.map(({ text, score }, i) => (
        <button
          key={i}
          type="button"
          class="word"
          tabIndex={(word.value ?? 0) === i ? 0 : -1}
          aria-pressed={word.value === i}
          title={t('{share} sure of this word', { share: percent(score) })}
          onMouseEnter={show(i)}
          onFocus={show(i)}
          onBlur={show(null)}
          onClick={show(i)}
          onKeyDown={(event) => move(event, i)}
        >
          {text}
        </button>
      ))}
    </p>
  );
}
