/** A line plot as SVG, without a browser. */
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';

const SIZE = { width: 720, height: 380, marginLeft: 56, marginRight: 150, marginTop: 32, marginBottom: 44 };

/**
 * @param {string} title for screen readers
 * @param {{ x: number, [series: string]: number }[]} rows
 * @param {{ label: string, type: string, ticks: number[], text?: (value: number) => string }} x axis
 * @param {{ label: string, type: 'linear' | 'log' }} y axis
 * @param {string[]} series names of the lines
 * @param {{ x: number, text: string }[]} [bounds] vertical lines
 * @returns {string} the SVG
 */
export function linePlot({ title, rows, x, y, series, bounds = [] }) {
  const points = series.flatMap((name) => rows.map((row) => ({ x: row.x, y: row[name], name })));
  const { document } = parseHTML('<html></html>');
  const channels = { x: 'x', y: 'y', stroke: 'name' };
  const svg = Plot.plot({
    document,
    ...SIZE,
    className: 'plot',
    style: { background: 'white', color: 'black', fontSize: '12px' },
    x: { type: x.type },
    y: { ...y, grid: true, ...(y.type === 'linear' ? { zero: true } : { ticks: 6, tickFormat: String }) },
    color: { domain: series },
    marks: [
      // A text of its own, because Plot leaves out labels of a logarithmic axis.
      Plot.axisX(x.ticks, { text: x.text ?? ((value) => value.toLocaleString('en')), label: x.label }),
      Plot.gridX(x.ticks),
      Plot.ruleX(bounds, { x: 'x', strokeDasharray: '4 3' }),
      Plot.text(bounds, { x: 'x', text: 'text', frameAnchor: 'top', dy: -14 }),
      Plot.lineY(points, { ...channels, strokeWidth: 2 }),
      Plot.dot(points, { x: 'x', y: 'y', fill: 'name', r: 3.5 }),
      Plot.text(
        points,
        Plot.selectLast({ x: 'x', y: 'y', z: 'name', text: 'name', fill: 'name', textAnchor: 'start', dx: 9 }),
      ),
    ],
  });
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  // Rules for pages with several plots; linters of CSS refuse them.
  svg.querySelector('style').remove();
  const name = document.createElement('title');
  name.textContent = title;
  svg.prepend(name);
  return `${svg.outerHTML}\n`;
}
