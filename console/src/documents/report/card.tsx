/** The card of a visit or a change: its sentence, pictures and facts. */
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ReportEntry, ReportPicture } from '../../../../src/schemas/documents.js';
import { FactList } from '../fact-list.js';
import { useNear } from './near.js';

interface CardProps {
  readonly entry: ReportEntry;
  readonly hidden: boolean;
  readonly isCurrent: boolean;
  /** text instead of a picture that is not there */
  readonly missing: string;
}

export function Card({ entry, hidden, isCurrent, missing }: CardProps) {
  const card = useRef<HTMLLIElement>(null);
  const isNear = useNear(card);
  useLayoutEffect(() => {
    if (!isCurrent) return;
    card.current?.scrollIntoView({ block: 'start' });
    card.current?.focus({ preventScroll: true });
  }, [isCurrent]);
  // A filter hides and shows a thousand cards at a time, whose contents stay.
  const content = useMemo(() => contentOf(entry, isNear, missing), [entry, isNear, missing]);
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
    </li>
  );
}

const titleOf = ({ id }: ReportEntry): string => `title-${id}`;

const contentOf = (entry: ReportEntry, isNear: boolean, missing: string) => (
  <>
    <p class="head">
      <time>{entry.when}</time>
      <span class="tag">{entry.camera}</span>
      <span class="tag">{entry.kind}</span>
    </p>
    <h3 id={titleOf(entry)}>{entry.caption}</h3>
    <div class="pictures">
      {entry.pictures.map((picture) => (
        <Picture key={picture.name} {...{ picture, isNear, missing }} caption={entry.caption} />
      ))}
    </div>
    <FactList facts={entry.facts} />
  </>
);

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
