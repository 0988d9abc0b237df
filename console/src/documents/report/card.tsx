/** The card of a visit or a change: its sentence, pictures and facts. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ReportData, ReportEntry, ReportPicture } from '../../../../src/schemas/documents.js';
import { FactList } from '../fact-list.js';
import { useNear } from './near.js';

interface CardProps {
  readonly entry: ReportEntry;
  readonly hidden: boolean;
  readonly isCurrent: boolean;
  readonly texts: ReportData['texts'];
}

export function Card({ entry, hidden, isCurrent, texts }: CardProps) {
  const card = useRef<HTMLLIElement>(null);
  const isNear = useNear(card);
  useLayoutEffect(() => {
    if (!isCurrent) return;
    card.current?.scrollIntoView({ block: 'start' });
    card.current?.focus({ preventScroll: true });
  }, [isCurrent]);
  // A filter hides and shows a thousand cards at a time, whose contents stay.
  const content = useMemo(() => contentOf(entry, isNear, texts), [entry, isNear, texts]);
  return (
    <li
      ref={card}
      id={entry.id}
      class={`card ${entry.severity}${isCurrent ? ' current' : ''}`}
      tabIndex={-1}
      hidden={hidden}
      aria-labelledby={titleOf(entry)}
    >
      {content}
      {entry.clip !== null && <Film clip={entry.clip} name={texts.play} isCurrent={isCurrent} />}
    </li>
  );
}

const titleOf = ({ id }: ReportEntry): string => `title-${id}`;

const contentOf = (entry: ReportEntry, isNear: boolean, texts: ReportData['texts']) => (
  <>
    <p class="head">
      <time>{entry.when}</time>
      <span class="tag">{entry.camera}</span>
      <span class="tag">{entry.kind}</span>
    </p>
    <h3 id={titleOf(entry)}>{entry.caption}</h3>
    <div class="pictures">
      {entry.pictures.map((picture) => (
        <Picture
          key={picture.name}
          picture={picture}
          isNear={isNear}
          missing={texts.no_picture}
          caption={entry.caption}
        />
      ))}
    </div>
    <details>
      <summary>{texts.details}</summary>
      <FactList facts={entry.facts} />
    </details>
  </>
);

interface FilmProps {
  readonly clip: string;
  readonly name: string;
  readonly isCurrent: boolean;
}

/** The film of a change, which lies beside the report. It begins when the entry is chosen on the timeline. */
function Film({ clip, name, isCurrent }: FilmProps) {
  const [isOpen, open] = useState(false);
  useEffect(() => {
    if (isCurrent) open(true);
  }, [isCurrent]);
  if (!isOpen) {
    return (
      <button type="button" class="play" onClick={() => open(true)}>
        ▶ {name}
      </button>
    );
  }
  return <video class="film" src={encodeURI(clip)} controls autoPlay muted playsInline />;
}

interface PictureProps {
  readonly picture: ReportPicture;
  readonly caption: string;
  readonly isNear: boolean;
  readonly missing: string;
}

/** The outline is stretched over the picture; its lines keep their width. */
function Picture({ picture: { name, picture, outline, way }, caption, isNear, missing }: PictureProps) {
  const source = picture === null ? null : document.getElementById(`picture-${picture}`);
  return (
    <figure>
      {source === null ? (
        <p class="frame missing">{missing}</p>
      ) : (
        <div class="frame">
          <img
            src={isNear ? `data:image/jpeg;base64,${source.textContent}` : undefined}
            alt={`${name}: ${caption}`}
            width={source.dataset.width}
            height={source.dataset.height}
          />
          {outline + way !== '' && (
            <svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
              <path class="casing" d={outline} />
              <path class="outline" d={outline} />
              <path class="way" d={way} />
            </svg>
          )}
        </div>
      )}
      <figcaption>{name}</figcaption>
    </figure>
  );
}
