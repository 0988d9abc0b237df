/** The page of a brief: for each camera the lists of its day. */
import type { BriefCamera, BriefData, BriefLine } from '../../../../src/schemas/documents.js';
import { HourPlot } from './hour-plot.js';

export function BriefPage({ data: { title, back, cameras, end } }: { readonly data: BriefData }) {
  return (
    <main class="column">
      {back !== null && (
        <p class="back">
          <a href={back.url}>{back.text}</a>
        </p>
      )}
      <h1>{title}</h1>
      {cameras.map((camera) => (
        <Camera key={camera.title} camera={camera} />
      ))}
      {end !== null && <p>{end}</p>}
    </main>
  );
}

const Camera = ({ camera: { title, subtitle, sections } }: { readonly camera: BriefCamera }) => (
  <section class="card">
    <h2>{title}</h2>
    <p class="quiet">{subtitle}</p>
    {sections.map((section) => (
      <section key={section.title}>
        <h3>{section.title}</h3>
        {section.hours !== undefined && <HourPlot title={section.title} hours={section.hours} />}
        {section.lines.length > 0 && (
          <ul>
            {section.lines.map((line, i) => (
              <Line key={i} line={line} />
            ))}
          </ul>
        )}
      </section>
    ))}
  </section>
);

const Line = ({ line: { text, link } }: { readonly line: BriefLine }) => (
  <li>
    {text}
    {link !== null && (
      <>
        {' '}
        <a href={link.url}>{link.text}</a>
      </>
    )}
  </li>
);
