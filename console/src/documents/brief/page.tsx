/** The page of a brief: for each camera the lists of its day. */
import type { BriefCamera, BriefData, BriefLine } from '../../../../src/schemas/documents.js';
import { DocumentHead } from '../head.js';
import { HourPlot } from './hour-plot.js';

export function BriefPage({ data: { title, back, summary, pictures, cameras, end } }: { readonly data: BriefData }) {
  return (
    <main class="column">
      <DocumentHead back={back} />
      <h1>{title}</h1>
      {summary !== '' && <p class="lead">{summary}</p>}
      {pictures.length > 0 && (
        <ul class="crops">
          {pictures.map(({ jpeg, text, url }) => (
            <li key={url}>
              <a href={url}>
                <img src={`data:image/jpeg;base64,${jpeg}`} alt="" />
                {text}
              </a>
            </li>
          ))}
        </ul>
      )}
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
