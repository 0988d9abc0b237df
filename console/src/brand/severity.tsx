/** A severity as a shape and a word: ring, disc, triangle, octagon. */
type Level = 'info' | 'low' | 'medium' | 'high';

const SHAPES: Readonly<Record<Level, string>> = {
  info: 'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zm0 2.4a4.6 4.6 0 1 1 0 9.2 4.6 4.6 0 0 1 0-9.2z',
  low: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z',
  medium: 'M8 1.5 15.5 14.5H.5z',
  high: 'M4.9.5h6.2l4.4 4.4v6.2l-4.4 4.4H4.9L.5 11.1V4.9z',
};

interface Props {
  readonly level: Level;
  readonly name: string;
}

export const Severity = ({ level, name }: Props) => (
  <span class={`severity ${level}`}>
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d={SHAPES[level]} />
    </svg>
    {name}
  </span>
);
