/**
 * Zones over the last frame, as SVG: corners are dragged with mouse or finger, or moved with the arrow keys; the point
 * in the middle of a side adds a corner; Delete removes a corner or the zone.
 */
import { useRef, useState } from 'preact/hooks';
import { LOSSY_MARGIN } from '../../../src/base/privacy-mask.js';
import type { Zone } from '../api/types.js';
import { t } from '../texts/texts.js';
import { arrowStep, follow, type Point, pointIn, WIDTH } from '../ui/drawing.js';
import { addCorner, moveAll, moveCorner, type Polygon, polygonOf, removeCorner, snapped } from './polygon-edit.js';

/** A snap by key searches farther than one by dragging. */
const KEY_SNAP = 0.1;

/** Follows the pointer. @param onMove takes its position, and whether it shall not snap */
type Drag = (event: PointerEvent, onMove: (at: Point, free: boolean) => void) => void;

interface Props {
  readonly picture: string | null;
  readonly zones: readonly Zone[];
  readonly selected: string | null;
  readonly onSelect: (id: string | null) => void;
  readonly onPolygon: (id: string, polygon: Polygon) => void;
  readonly onRemove: (id: string) => void;
}

export function ZoneCanvas({ picture, zones, selected, onSelect, onPolygon, onRemove }: Props) {
  const [ratio, setRatio] = useState(9 / 16);
  /** of the frame, px */
  const [width, setWidth] = useState(WIDTH);
  const drawing = useRef<SVGSVGElement>(null);
  const height = WIDTH * ratio;
  const pointOf = (event: PointerEvent) => pointIn(drawing.current as SVGSVGElement, event);
  const drag: Drag = (event, onMove) => follow(event, (moved) => onMove(pointOf(moved), moved.altKey));
  const othersOf = (zone: Zone) => zones.filter(({ id }) => id !== zone.id).flatMap(polygonOf);
  const current = zones.find(({ id }) => id === selected);
  const shown = current === undefined ? zones : [...zones.filter((zone) => zone !== current), current];
  return (
    <div class="zone-canvas">
      {picture === null ? (
        <p class="frame-gone">{t('No frame is kept. The zones lie on an empty picture.')}</p>
      ) : (
        <img
          src={picture}
          alt={t('Last frame')}
          draggable={false}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
            setRatio(naturalHeight / naturalWidth);
            setWidth(naturalWidth);
          }}
        />
      )}
      <svg
        ref={drawing}
        class={current === undefined ? '' : 'editing'}
        viewBox={`0 0 ${WIDTH} ${height}`}
        preserveAspectRatio="none"
        role="group"
        aria-label={t('Zones on the frame')}
        onPointerDown={() => onSelect(null)}
      >
        <Painted zones={zones} height={height} margin={(LOSSY_MARGIN * WIDTH) / width} />
        {shown.map((zone) => (
          <ZoneShape
            key={zone.id}
            zone={zone}
            height={height}
            isSelected={zone.id === selected}
            onSelect={() => onSelect(zone.id)}
            onRemove={() => onRemove(zone.id)}
            onMove={(dx, dy) => onPolygon(zone.id, moveAll(polygonOf(zone), dx, dy))}
            onPress={(event) => {
              onSelect(zone.id);
              const [startX, startY] = pointOf(event);
              const polygon = polygonOf(zone);
              drag(event, ([x, y]) => onPolygon(zone.id, moveAll(polygon, x - startX, y - startY)));
            }}
          />
        ))}
        {current && (
          <Handles
            zone={current}
            height={height}
            others={othersOf(current)}
            drag={drag}
            onPolygon={(polygon) => onPolygon(current.id, polygon)}
          />
        )}
      </svg>
    </div>
  );
}

interface PaintedProps {
  readonly zones: readonly Zone[];
  readonly height: number;
  /** that the service paints around a zone, in units of the drawing */
  readonly margin: number;
}

/** All that the service paints black: privacy zones, each grown as lossy formats need it. */
function Painted({ zones, height, margin }: PaintedProps) {
  return (
    <>
      <filter id="painted" filterUnits="userSpaceOnUse" x="0" y="0" width={WIDTH} height={height}>
        <feMorphology operator="dilate" radius={margin} />
      </filter>
      <g class="painted" filter="url(#painted)">
        {zones
          .filter(({ type }) => type === 'privacy')
          .map((zone) => (
            <polygon key={zone.id} points={pointsOf(zone, height)} />
          ))}
      </g>
    </>
  );
}

const pointsOf = (zone: Zone, height: number): string =>
  polygonOf(zone)
    .map(([x, y]) => `${x * WIDTH},${y * height}`)
    .join(' ');

interface ShapeProps {
  readonly zone: Zone;
  readonly height: number;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
  readonly onRemove: () => void;
  readonly onMove: (dx: number, dy: number) => void;
  readonly onPress: (event: PointerEvent) => void;
}

function ZoneShape({ zone, height, isSelected, onSelect, onRemove, onMove, onPress }: ShapeProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const step = arrowStep(event);
    if (step !== undefined) onMove(...step);
    else if (event.key === 'Delete' || event.key === 'Backspace') onRemove();
    else if (event.key === 'Enter' || event.key === ' ') onSelect();
    else return;
    event.preventDefault();
  };
  return (
    <polygon
      class={`zone ${zone.type}${isSelected ? ' selected' : ''}`}
      points={pointsOf(zone, height)}
      role="button"
      tabindex={0}
      aria-label={t('Zone {name}, {type}: arrows move it, Delete removes it', {
        name: zone.name ?? zone.id,
        type: t(zone.type),
      })}
      aria-pressed={isSelected}
      onFocus={onSelect}
      onKeyDown={onKeyDown}
      onPointerDown={onPress}
    />
  );
}

interface HandlesProps {
  readonly zone: Zone;
  readonly height: number;
  readonly others: Polygon;
  readonly drag: Drag;
  readonly onPolygon: (polygon: Polygon) => void;
}

/** Corners of the selected zone, and the points that add one. */
function Handles({ zone, height, others, drag, onPolygon }: HandlesProps) {
  const polygon = polygonOf(zone);
  const onCornerKey = (event: KeyboardEvent, i: number) => {
    const [x = 0, y = 0] = polygon[i] ?? [];
    const step = arrowStep(event);
    if (step !== undefined) onPolygon(moveCorner(polygon, i, [x + step[0], y + step[1]]));
    else if (event.key === 'Delete' || event.key === 'Backspace') onPolygon(removeCorner(polygon, i));
    else if (event.key === 's') onPolygon(moveCorner(polygon, i, snapped([x, y], others, KEY_SNAP)));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      {polygon.map(([x, y], i) => {
        const [nextX = 0, nextY = 0] = polygon[(i + 1) % polygon.length] ?? [];
        const add = () => onPolygon(addCorner(polygon, i));
        return (
          <circle
            key={`side ${i}`}
            class="side-handle"
            cx={((x + nextX) / 2) * WIDTH}
            cy={((y + nextY) / 2) * height}
            r="9"
            role="button"
            tabindex={0}
            aria-label={t('Add a corner after corner {n}', { n: i + 1 })}
            onPointerDown={(event) => {
              const grown = addCorner(polygon, i);
              onPolygon(grown);
              drag(event, (at, free) => onPolygon(moveCorner(grown, i + 1, free ? at : snapped(at, others))));
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' && event.key !== ' ') return;
              event.preventDefault();
              add();
            }}
          />
        );
      })}
      {polygon.map(([x, y], i) => (
        <circle
          key={`corner ${i}`}
          class="corner-handle"
          cx={x * WIDTH}
          cy={y * height}
          r="13"
          role="button"
          tabindex={0}
          aria-label={t('Corner {n}: arrows move it, s snaps it, Delete removes it', { n: i + 1 })}
          onPointerDown={(event) =>
            drag(event, (at, free) => onPolygon(moveCorner(polygon, i, free ? at : snapped(at, others))))
          }
          onDblClick={() => onPolygon(removeCorner(polygon, i))}
          onKeyDown={(event) => onCornerKey(event, i)}
        />
      ))}
    </>
  );
}
