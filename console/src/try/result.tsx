/** A finished comparison: sentence, verdict, confidence, frames with outlines, and the details behind them. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { localAddress } from '../api/client.js';
import type { Comparison } from '../api/types.js';
import { PairView } from '../pair/pair-view.js';
import { Sentence } from '../pair/sentence.js';
import { useOutlines } from '../pair/use-outlines.js';
import { t, tx } from '../texts/texts.js';
import { percent } from '../ui/format.js';

const VERDICTS = {
  change: t('Change'),
  none: t('No change'),
  nuisance: t('No change'),
  tamper: t('Tampering'),
} as const;
const plain = (name: string) => name.replaceAll('_', ' ');

export function Result({ comparison }: { readonly comparison: Comparison }) {
  const word = useSignal<number | null>(null);
  const outlines = useOutlines(comparison, word);
  const { verdict = 'none', words = [], confidence = 0, nuisance = [], tamper = [], frames } = comparison;
  const causes = [...nuisance, ...tamper].map(({ name }) => t(plain(name))).join(', ');
  const urls = {
    before: frames?.before === undefined ? null : localAddress(frames.before.url),
    after: frames === undefined ? null : localAddress(frames.after.url),
  };
  const article = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a narrow screen the result lies below the form.
    if (article.current && article.current.getBoundingClientRect().top > innerHeight / 2) {
      article.current.scrollIntoView({ block: 'start' });
    }
  }, [comparison]);
  return (
    <article class="result" ref={article}>
      <Sentence words={words} word={word} />
      <p class="facts">
        <span class={`verdict ${verdict}`}>{VERDICTS[verdict]}</span>
        {causes !== '' && <span>{causes}</span>}
        <span>{tx('confidence {share}', { share: <b>{percent(confidence)}</b> })}</span>
        {comparison.timings_ms && <span class="quiet">{Math.round(comparison.timings_ms.total)} ms</span>}
        {comparison.model && (
          <span class="quiet">
            {comparison.model.name} {comparison.model.version}, {comparison.model.provider}
          </span>
        )}
      </p>
      <PairView urls={urls} outlines={outlines} />
      {comparison.metadata !== undefined && (
        <details>
          <summary>{t('Metadata')}</summary>
          <pre>{JSON.stringify(comparison.metadata, null, 2)}</pre>
        </details>
      )}
    </article>
  );
}
