/** The page of an evidence package: its records with their frames, which lie beside it. */
import type { EvidenceData } from '../../../../src/schemas/documents.js';
import { FactList } from '../fact-list.js';
import { DocumentHead } from '../head.js';

type Frame = EvidenceData['sections'][number]['frames'][number];

export function EvidencePage({ data: { title, facts, missing, sections } }: { readonly data: EvidenceData }) {
  return (
    <main class="column">
      <DocumentHead />
      <h1>{title}</h1>
      <FactList facts={facts} />
      {missing.map((sentence) => (
        <p key={sentence} class="notice">
          {sentence}
        </p>
      ))}
      {sections.map((section, i) => (
        <section key={i} class="card">
          <h2>{section.title}</h2>
          <FactList facts={section.facts} />
          {section.frames.length > 0 && (
            <div class="pictures">
              {section.frames.map((frame) => (
                <FrameFigure key={frame.name} frame={frame} />
              ))}
            </div>
          )}
        </section>
      ))}
    </main>
  );
}

function FrameFigure({ frame: { name, path } }: { readonly frame: Frame }) {
  if (path === null) return <p class="frame missing">{name}</p>;
  return (
    <figure>
      <img src={path} alt={name} />
      <figcaption>{name}</figcaption>
    </figure>
  );
}
