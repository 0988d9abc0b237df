/** report.html: a timeline, filters, and a card for every visit and change of a recording. */
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { ReportData, ReportEntry } from '../../../../src/schemas/documents.js';
import { DocumentHead } from '../head.js';
import { Card } from './card.js';
import { embedded } from './embedded.js';
import { EVERYTHING, matcherOf } from './filter.js';
import { Filters } from './filters.js';
import { Timeline } from './timeline.js';

export function ReportPage({ data }: { readonly data: ReportData }) {
  const { title, lead, strip, summary, incomplete, lists, visits, changes, texts } = data;
  const [filter, setFilter] = useState(EVERYTHING);
  const [outlined, setOutlined] = useState(true);
  const [current, choose] = useState<ReportEntry | undefined>(undefined);
  const entries = useMemo(() => [...visits, ...changes], [data]);
  const matcher = useMemo(() => matcherOf(data), [data]);
  const shown = useMemo(() => new Set(entries.filter(matcher(filter))), [filter]);
  const follow = (event: Event, id: string) => {
    event.preventDefault();
    choose(entries.find((entry) => entry.id === id));
  };
  const step = (by: number) => {
    const list = [...shown];
    const at = current === undefined ? -1 : list.indexOf(current);
    choose(list[at < 0 ? 0 : Math.min(Math.max(at + by, 0), list.length - 1)]);
  };
  // With each rendering: the next key must find the entry that the last one chose.
  useLayoutEffect(() => {
    const follow = (event: KeyboardEvent) => {
      const { target, key, ctrlKey, altKey, metaKey } = event;
      if (ctrlKey || altKey || metaKey || target instanceof HTMLInputElement || target instanceof HTMLSelectElement)
        return;
      const onTimeline = target instanceof Element && target.id === 'timeline';
      if (key === 'j' || (onTimeline && key === 'ArrowRight')) step(1);
      else if (key === 'k' || (onTimeline && key === 'ArrowLeft')) step(-1);
      else if (key === '/') document.getElementById('text')?.focus();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', follow);
    return () => document.removeEventListener('keydown', follow);
  });
  return (
    <>
      <header>
        <DocumentHead />
        <h1>{title}</h1>
        <p class="lead">{lead}</p>
        {strip.length > 0 && (
          <ul class="crops">
            {strip.map(({ entry, picture, text }) => (
              <li key={entry}>
                <a href={`#${entry}`} onClick={(event) => follow(event, entry)}>
                  <img src={embedded(picture)} alt="" />
                  {text}
                </a>
              </li>
            ))}
          </ul>
        )}
        <p class="quiet">{summary}</p>
        {incomplete !== null && <p class="notice">{incomplete}</p>}
        {lists.map((list) => (
          <details key={list.title}>
            <summary>{`${list.title} (${list.lines.length})`}</summary>
            <ul>
              {list.lines.map((line, i) => (
                <li key={i}>{line}</li>
              ))}
            </ul>
          </details>
        ))}
      </header>
      <main class={outlined ? '' : 'plain'}>
        <h2>{texts.timeline}</h2>
        <Timeline data={data} entries={entries} shown={shown} current={current} choose={choose} />
        <p class="hint">{texts.keys}</p>
        <Filters data={data} count={shown.size} {...{ filter, setFilter, outlined, setOutlined }} />
        {[
          { name: texts.visits, of: visits },
          { name: texts.changes, of: changes },
        ].map(({ name, of }) => (
          // A title without a card below it looks like a page that was cut off.
          <section key={name} hidden={!of.some((entry) => shown.has(entry))}>
            <h2>{name}</h2>
            <ol class="cards">
              {of.map((entry) => (
                <Card
                  key={entry.id}
                  entry={entry}
                  hidden={!shown.has(entry)}
                  isCurrent={entry === current}
                  texts={texts}
                />
              ))}
            </ol>
          </section>
        ))}
      </main>
    </>
  );
}
