/** A list box in which only the visible rows exist, so that ten thousand rows scroll smoothly. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Height of a row without a picture, px. */
const TEXT_ROW = 78;
/** Items that exist above and below the visible ones. */
const SPARE = 6;

interface Props<T> {
  readonly label: string;
  /** height of a row, px */
  readonly row?: number;
  /** items beside each other in a row */
  readonly columns?: number;
  readonly items: readonly T[];
  readonly idOf: (item: T) => string;
  /** the row that the keys move from */
  readonly selected: string | undefined;
  /** rows that are chosen, in a list of which several can be; if there are none, the selected one is */
  readonly marked?: ReadonlySet<string>;
  readonly onSelect: (id: string, event: MouseEvent) => void;
  /** is called with the position after the last row that exists */
  readonly onView?: (last: number) => void;
  /** content of a row. @param isActive whether the pointer is on it, or the keys are */
  readonly children: (item: T, isActive: boolean) => ComponentChildren;
}

export function VirtualList<T>({
  label,
  row = TEXT_ROW,
  columns = 1,
  items,
  idOf,
  selected,
  marked,
  onSelect,
  onView,
  children,
}: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 900 });
  const [pointed, setPointed] = useState<string | null>(null);
  const [hasFocus, setFocus] = useState(false);
  const position = items.findIndex((item) => idOf(item) === selected);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);
  useEffect(() => {
    const element = box.current;
    if (element === null || position < 0) return;
    const top = Math.floor(position / columns) * row;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + row > element.scrollTop + element.clientHeight) element.scrollTop = top + row - element.clientHeight;
  }, [position, row, columns]);

  const spare = Math.ceil(SPARE / columns);
  const first = Math.max(0, Math.floor(view.top / row) - spare) * columns;
  const last = Math.min(items.length, (Math.ceil((view.top + view.height) / row) + spare) * columns);
  useEffect(() => onView?.(last), [last]);
  return (
    <div
      class="rows"
      ref={box}
      role="listbox"
      tabIndex={0}
      onFocus={() => setFocus(true)}
      onBlur={() => setFocus(false)}
      aria-label={label}
      aria-multiselectable={marked !== undefined}
      aria-activedescendant={position >= first && position < last ? `row-${selected}` : undefined}
    >
      <div class="rows-space" style={{ height: `${Math.ceil(items.length / columns) * row}px` }} role="presentation">
        {items.slice(first, last).map((item, i) => {
          const id = idOf(item);
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the page takes the keys (aria-activedescendant)
            // biome-ignore lint/a11y/useFocusableInteractive: only the list has the focus
            <div
              key={id}
              id={`row-${id}`}
              class={id === selected ? 'row current' : 'row'}
              role="option"
              aria-selected={marked?.size ? marked.has(id) : id === selected}
              aria-setsize={items.length}
              aria-posinset={first + i + 1}
              style={{
                height: `${row}px`,
                width: `${100 / columns}%`,
                transform: `translate(${((first + i) % columns) * 100}%, ${Math.floor((first + i) / columns) * row}px)`,
              }}
              onClick={(event) => onSelect(id, event)}
              onMouseEnter={() => setPointed(id)}
              onMouseLeave={() => setPointed(null)}
            >
              {children(item, id === pointed || (hasFocus && id === selected))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
