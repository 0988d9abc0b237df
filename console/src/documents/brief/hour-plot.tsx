/** A bar per hour of a day, with its time and count as a tooltip; the text beside the plot says the same. */
import type { BriefHour } from '../../../../src/schemas/documents.js';

/** Units of a bar with its gap, without it, and of the highest bar. */
const STEP = 10;
const WIDTH = 8;
const HEIGHT = 40;
/** Hours between two labels of the axis. */
const LABELLED = 6;

export function HourPlot({ title, hours }: { readonly title: string; readonly hours: readonly BriefHour[] }) {
  const most = Math.max(...hours.map(({ count }) => count), 1);
  const marks = hours.filter((_hour, i) => i % LABELLED === 0);
  return (
    <div class="plot">
      <svg
        role="img"
        aria-label={title}
        viewBox={`0 0 ${hours.length * STEP} ${HEIGHT + 2}`}
        preserveAspectRatio="none"
      >
        {hours.map(({ time, count }, i) => {
          const height = 1 + (HEIGHT * count) / most;
          return (
            <rect key={i} x={i * STEP + 1} y={HEIGHT + 2 - height} width={WIDTH} height={height}>
              <title>{`${time}: ${count}`}</title>
            </rect>
          );
        })}
      </svg>
      <div class="axis" aria-hidden="true">
        {marks.map(({ time }) => (
          <span key={time}>{time}</span>
        ))}
      </div>
    </div>
  );
}
