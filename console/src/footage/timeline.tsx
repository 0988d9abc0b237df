/**
 * Timeline of a recording or of one video: a mark per change, shaded gaps, and the position of the video. It is one
 * slider for the keyboard and one drawing, however many changes there are.
 */
import { t } from '../texts/texts.js';
import { pointIn } from '../ui/drawing.js';

/** Width of the drawing, in units. */
const WIDTH = 1000;

interface Mark {
  readonly id: string;
  readonly at: number;
  /** sentence and time */
  readonly text: string;
}

interface Props {
  readonly from: number;
  readonly to: number;
  /** in the order of time */
  readonly marks: readonly Mark[];
  readonly gaps: readonly (readonly [from: number, to: number])[];
  readonly selected: string | undefined;
  /** position of the video; null: none is open */
  readonly playhead: number | null;
  readonly onSelect: (id: string) => void;
  /** text of a time, for both ends */
  readonly label: (at: number) => string;
}

export function Timeline({ from, to, marks, gaps, selected, playhead, onSelect, label }: Props) {
  const x = (at: number) => (to <= from ? 0 : (Math.min(Math.max(at, from), to) - from) / (to - from)) * WIDTH;
  const position = marks.findIndex(({ id }) => id === selected);
  const current = marks[position];
  const step = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: position + 1,
      ArrowLeft: position - 1,
      Home: 0,
      End: marks.length - 1,
    };
    const target = steps[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const mark = marks[Math.min(Math.max(target, 0), marks.length - 1)];
    if (mark !== undefined) onSelect(mark.id);
  };
  const pick = (event: MouseEvent) => {
    const [along] = pointIn(event.currentTarget as Element, event);
    const at = along * WIDTH;
    const nearest = [...marks].sort((a, b) => Math.abs(x(a.at) - at) - Math.abs(x(b.at) - at))[0];
    if (nearest !== undefined) onSelect(nearest.id);
  };
  return (
    <div class="timeline">
      <div
        class="timeline-line"
        role="slider"
        tabIndex={0}
        aria-label={t('Timeline: the arrow keys step through the changes')}
        aria-valuemin={0}
        aria-valuemax={marks.length}
        aria-valuenow={position + 1}
        aria-valuetext={current?.text ?? t('{n} change, none selected|{n} changes, none selected', { n: marks.length })}
        onKeyDown={step}
        onClick={pick}
      >
        <svg viewBox={`0 0 ${WIDTH} 40`} preserveAspectRatio="none" aria-hidden="true">
          {gaps.map(([begin, end]) => (
            <rect
              key={begin}
              class="timeline-gap"
              x={x(begin)}
              width={Math.max(1, x(end) - x(begin))}
              y="0"
              height="40"
            />
          ))}
          <path class="timeline-marks" d={marks.map(({ at }) => `M${x(at).toFixed(1)} 6V34`).join('')} />
          {current && <path class="timeline-current" d={`M${x(current.at).toFixed(1)} 0V40`} />}
          {playhead !== null && <path class="timeline-playhead" d={`M${x(playhead).toFixed(1)} 0V40`} />}
        </svg>
      </div>
      <p class="timeline-ends quiet" aria-hidden="true">
        <span>{label(from)}</span>
        <span>{label(to)}</span>
      </p>
    </div>
  );
}
