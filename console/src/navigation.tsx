/** The way between the pages: links in the head, or on a telephone four buttons at the lower edge. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { mayOpen } from './access.js';
import { session, signOut } from './session.js';
import { t } from './texts/texts.js';
import { isNarrow } from './ui/narrow.js';

/** Path, name, and for the bar of a telephone the lines of its icon in a square of 24 units. */
export const VIEWS = [
  ['/review', t('Review'), 'M4 5h16v14H4zM4 14l4-4 4 4 3-3 5 5'],
  ['/wall', t('Wall'), 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z'],
  ['/cameras', t('Cameras'), 'M3 8h12v9H3zM15 11l6-3v9l-6-3'],
  ['/footage', t('Footage'), null],
  ['/endpoints', t('Endpoints'), null],
  ['/system', t('System'), null],
  ['/try', t('Try'), null],
] as const;
const MORE = 'M5 12h.01M12 12h.01M19 12h.01';

/** Review is the start of the service. */
export const isCurrent = (view: string, path: string): boolean =>
  path === view || path.startsWith(`${view}/`) || (view === '/review' && path === '/');

export const Navigation = () => (isNarrow.value ? <Bar /> : <Links views={VIEWS.filter(([view]) => mayOpen(view))} />);

interface LinksProps {
  readonly views: readonly (typeof VIEWS)[number][];
}

function Links({ views }: LinksProps) {
  const [path] = useLocation();
  return (
    <nav aria-label={t('Pages')}>
      {views.map(([view, name]) => (
        <Link key={view} href={view} aria-current={isCurrent(view, path) ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}

function Bar() {
  const [path] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const bar = useRef<HTMLElement>(null);
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    const close = (event: Event) => {
      const isOutside =
        event instanceof KeyboardEvent ? event.key === 'Escape' : !bar.current?.contains(event.target as Node);
      if (isOutside) setOpen(false);
    };
    for (const type of ['keydown', 'pointerdown']) addEventListener(type, close);
    return () => {
      for (const type of ['keydown', 'pointerdown']) removeEventListener(type, close);
    };
  }, []);
  const others = VIEWS.filter(([view, , icon]) => icon === null && mayOpen(view));
  const isOther = others.some(([view]) => isCurrent(view, path));
  return (
    <nav class="bar" ref={bar} aria-label={t('Pages')}>
      {VIEWS.map(
        ([view, name, icon]) =>
          icon !== null && (
            <Link key={view} class="bar-item" href={view} aria-current={isCurrent(view, path) ? 'page' : undefined}>
              <Icon lines={icon} />
              {name}
            </Link>
          ),
      )}
      <button
        type="button"
        class="bar-item"
        aria-expanded={isOpen}
        aria-current={isOther ? 'page' : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon lines={MORE} />
        {t('More')}
      </button>
      {isOpen && (
        <div class="bar-more">
          {others.map(([view, name]) => (
            <Link
              key={view}
              class="bar-more-item"
              href={view}
              aria-current={isCurrent(view, path) ? 'page' : undefined}
            >
              {name}
            </Link>
          ))}
          {session.value?.key && (
            <button type="button" class="bar-more-item" onClick={signOut}>
              {t('Sign out')}
            </button>
          )}
        </div>
      )}
    </nav>
  );
}

const Icon = ({ lines }: { readonly lines: string }) => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <path d={lines} />
  </svg>
);
