/**
 * `npm run bench -- growth [--only=NAME,NAME] [--again] [--write]`: how cost grows with the size of the frames, the
 * things that changed, the cameras, the jobs that wait and the stored changes. With --write, docs/growth.md has the
 * figures of each axis with a plot, and an axis that was measured for the bundle that ships is not measured again.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions } from '../../scripts/lib/options.mjs';
import { ROOT, runMain, Stop, say } from '../../scripts/lib/shell.mjs';
import { cameras } from './growth/cameras.mjs';
import { changes } from './growth/changes.mjs';
import { frames, things } from './growth/pairs.mjs';
import { queue } from './growth/queue.mjs';
import { linePlot } from './lib/plot.mjs';
import { busyShare, ms, provenance, shippedBundle, tableLines, wrapped, writeSection } from './lib/report.mjs';

/**
 * Each has a name, a title, both axes of its plot, the series that are drawn, further columns of its table with the
 * text of a value, `measure`, and `sentence`, which states from the rows where the cost bends.
 */
const AXES = [frames, things, cameras, queue, changes];
const PAGE = join(ROOT, 'docs/growth.md');

const { values } = readOptions({ only: { type: 'string' }, again: { type: 'boolean' }, write: { type: 'boolean' } });

/** Whether the page has the figures of this axis for the bundle that ships. */
function isMeasured(name) {
  const page = readFileSync(PAGE, 'utf8');
  const section = page.slice(page.indexOf(`<!-- ${name} -->`), page.indexOf(`<!-- /${name} -->`));
  return section.includes(`\n${shippedBundle()}\n`);
}

async function measure(axis) {
  const { name, title, x, series, text = ms, columns = {}, notes = [] } = axis;
  const busy = busyShare();
  const rows = await axis.measure();
  const number = x.text ?? ((value) => value.toLocaleString('en'));
  const table = [
    [x.label, ...series, ...Object.keys(columns)],
    ...rows.map((row) => [
      number(row.x),
      ...series.map((one) => text(row[one])),
      ...Object.entries(columns).map(([one, textOf]) => textOf(row[one])),
    ]),
  ];
  const section = [
    `## ${title}`,
    '',
    `![${axis.y.label}, by ${x.label}](growth/${name}.svg)`,
    '',
    ...wrapped(axis.sentence(rows)),
    '',
    provenance('growth', { command: `npm run bench -- growth --only=${name}`, busy }).join('  \n'),
    '',
    ...tableLines(table),
    ...(notes.length === 0 ? [] : ['', ...notes.flatMap((note) => wrapped(`- ${note}`))]),
  ].join('\n');
  console.log(`\n${section}\n`);
  if (!values.write) return;
  writeFileSync(join(ROOT, `docs/growth/${name}.svg`), linePlot({ ...axis, rows }));
  writeSection(name, section, PAGE);
}

await runMain(async () => {
  const names = values.only?.split(',') ?? AXES.map(({ name }) => name);
  const unknown = names.filter((name) => !AXES.some((axis) => axis.name === name));
  if (unknown.length > 0) {
    throw new Stop(`--only=${unknown.join()}: expected some of ${AXES.map(({ name }) => name).join(', ')}`);
  }
  for (const axis of AXES.filter(({ name }) => names.includes(name))) {
    if (values.write && !values.again && isMeasured(axis.name)) say(axis.name, 'is measured for this bundle');
    else await measure(axis);
  }
});
