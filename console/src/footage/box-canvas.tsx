/**
 * One box on a frame, as SVG: drawn, moved and resized with mouse or finger, or with the arrow keys. The frame is a
 * picture, or a video that stands still.
 */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Box } from '../api/types.js';
import { t } from '../texts/texts.js';
import { arrowStep, follow, type Point, pointIn, WIDTH } from '../ui/drawing.js';
import { boxBetween, cornersOf, moveBox, moveCorner } from './box-edit.js';

const NAMES = [
  t('Upper left corner: arrows move it'),
  t('Upper right corner: arrows move it'),
  t('Lower right corner: arrows move it'),
  t('Lower left corner: arrows move it'),
] as const;

interface Props {
  /** the frame */
  readonly children: ComponentChildren;
  /** height of the frame by its width */
  readonly ratio: number;
  readonly box: Box | null;
  readonly onBox: (box: Box | null) => void;
}

export function BoxCanvas({ children, ratio, box, onBox }: Props) {
  const drawing = useRef<SVGSVGElement>(null);
  const height = WIDTH * ratio;
  const pointOf = (event: MouseEvent) => pointIn(drawing.current as SVGSVGElement, event);
  const drag = (event: PointerEvent, boxAt: (at: Point) => Box | null) =>
    follow(event, (moved) => {
      const next = boxAt(pointOf(moved));
      if (next !== null) onBox(next);
    });
  const onPress = (event: PointerEvent) => {
    const start = pointOf(event);
    drag(event, (at) => boxBetween(start, at));
  };
  return (
    <div class="box-canvas">
      {children}
      <svg
        ref={drawing}
        viewBox={`0 0 ${WIDTH} ${height}`}
        preserveAspectRatio="none"
        role="group"
        aria-label={t('The place on the frame')}
        onPointerDown={onPress}
      >
        {box !== null && <BoxShape box={box} height={height} pointOf={pointOf} drag={drag} onBox={onBox} />}
      </svg>
    </div>
  );
}

interface ShapeProps {
  readonly box: Box;
  readonly height: number;
  readonly pointOf: (event: MouseEvent) => Point;
  readonly drag: (event: PointerEvent, boxAt: (at: Point) => Box | null) => void;
  readonly onBox: (box: Box | null) => void;
}

function BoxShape({ box, height, pointOf, drag, onBox }: ShapeProps) {
  const byKey = (event: KeyboardEvent, move: (step: Point) => Box) => {
    const step = arrowStep(event);
    if (step !== undefined) onBox(move(step));
    else if (event.key === 'Delete' || event.key === 'Backspace') onBox(null);
    else return;
    event.preventDefault();
  };
  const onPress = (event: PointerEvent) => {
    const [startX, startY] = pointOf(event);
    drag(event, ([x, y]) => moveBox(box, [x - startX, y - startY]));
  };
  return (
    <>
      <rect
        class="zone selected"
        x={box.x * WIDTH}
        y={box.y * height}
        width={box.width * WIDTH}
        height={box.height * height}
        role="button"
        tabindex={0}
        aria-label={t('The place: arrows move it, Delete removes it')}
        onPointerDown={onPress}
        onKeyDown={(event) => byKey(event, (step) => moveBox(box, step))}
      />
      {cornersOf(box).map(([x, y], i) => (
        <circle
          key={NAMES[i]}
          class="corner-handle"
          cx={x * WIDTH}
          cy={y * height}
          r="13"
          role="button"
          tabindex={0}
          aria-label={NAMES[i]}
          onPointerDown={(event) => drag(event, (at) => moveCorner(box, i, at))}
          onKeyDown={(event) => byKey(event, ([dx, dy]) => moveCorner(box, i, [x + dx, y + dy]))}
        />
      ))}
    </>
  );
}
