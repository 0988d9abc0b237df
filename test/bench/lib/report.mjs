/** The report of one bench: machine, versions, date and a table; --write puts it into its section of RESULTS.md. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { probe, ROOT } from '../../../scripts/lib/shell.mjs';

export { percentile } from './percentile.mjs';

export const RESULTS = join(ROOT, 'test/bench/RESULTS.md');
/** Longest line of a Markdown paragraph. */
const LINE_LENGTH = 118;
/** Benches that run no model: their figures hold for every bundle. */
const WITHOUT_MODEL = ['glitches', 'outages', 'views', 'scale'];

const SAMPLE_MS = 2000;

/** @returns the share of the time of all cores that programs take while this one waits: 0 on a quiet machine */
export function busyShare() {
  const sum = (times) => Object.values(times).reduce((total, time) => total + time, 0);
  const taken = () =>
    cpus().reduce(({ idle, all }, { times }) => ({ idle: idle + times.idle, all: all + sum(times) }), {
      idle: 0,
      all: 0,
    });
  const before = taken();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SAMPLE_MS);
  const after = taken();
  return 1 - (after.idle - before.idle) / (after.all - before.all);
}

/** When the bench began. The load average would be that of the bench before it. */
const busyBefore = busyShare();

export const ms = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
export const mb = (bytes) => `${(bytes / 1024 / 1024).toFixed(0)} MB`;

/** @returns the bundle that ships, as sections name it */
export function shippedBundle() {
  const { name, version } = JSON.parse(readFileSync(join(ROOT, 'models/scorer-surveillance/manifest.json'), 'utf8'));
  return `${name} ${version}`;
}

/**
 * @param {{ command?: string, busy?: number }} [differing] command that measures again, and load before the measurement
 * @returns {string[]} lines with the command, the date, the machine and the versions of a bench
 */
export function provenance(name, { command = commandLine(name), busy = busyBefore } = {}) {
  return [`\`${command}\`, ${new Date().toISOString().slice(0, 10)}, commit ${commit()}`, ...machine(name, busy)];
}

function machine(name, busy) {
  const [cpu] = cpus();
  const packages = ['onnxruntime-node', 'sharp', 'fastify', 'bullmq'].flatMap((one) => {
    const file = join(ROOT, 'node_modules', one, 'package.json');
    return existsSync(file) ? [`${one} ${JSON.parse(readFileSync(file, 'utf8')).version}`] : [];
  });
  const redis = /v=(\S+)/.exec(probe('redis-server', ['--version']).output)?.[1];
  return [
    `${cpus().length} cores of ${cpu?.model.trim() ?? 'an unnamed processor'}, ${mb(totalmem())}, ` +
      `${process.platform} ${process.arch}, ${(100 * busy).toFixed(0)} % busy before`,
    [`Node ${process.versions.node}`, ...(redis === undefined ? [] : [`Redis ${redis}`]), ...packages].join(', '),
    WITHOUT_MODEL.includes(name) ? 'no model' : shippedBundle(),
  ];
}

/** @returns the short hash of the commit that is measured */
function commit() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  } catch {
    return 'no repository';
  }
}

/** The command that measures again. @param {string[]} given its options */
export function commandLine(name, given = process.argv.slice(2)) {
  // Folders of this machine mean nothing to readers.
  const args = given.filter((arg) => arg !== '--write').map((arg) => arg.replace(/=\/.*/, '=FOLDER'));
  return ['npm run bench --', name, ...args].join(' ');
}

/**
 * @param {string} name of the bench, e.g. 'latency'
 * @param {string[][]} table the first row is the head
 * @param {string[]} notes facts that a reader needs to judge the figures
 * @param {string} [section] of RESULTS.md, if a bench has several
 */
export function report(name, title, table, notes, section = name) {
  const text = [
    `## ${title}`,
    '',
    provenance(name).join('  \n'),
    '',
    ...tableLines(table),
    '',
    ...notes.flatMap((note) => wrapped(`- ${note}`)),
  ].join('\n');
  console.log(`\n${text}\n`);
  if (process.argv.includes('--write')) writeSection(section, text);
}

/** A table of Markdown; the first row is the head. @param {string[][]} table @returns {string[]} */
export function tableLines([head = [], ...rows]) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

/** Breaks a paragraph or list item into lines of at most LINE_LENGTH characters. @returns {string[]} */
export function wrapped(item) {
  const indent = item.startsWith('- ') ? '  ' : '';
  const lines = [''];
  for (const word of item.split(' ')) {
    const line = lines.at(-1);
    if (line !== '' && line.length + 1 + word.length > LINE_LENGTH) lines.push(`${indent}${word}`);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

/** Replaces a section of a page, or adds it, and leaves the others as they are. */
export function writeSection(name, text, page = RESULTS) {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const results = readFileSync(page, 'utf8');
  const [from, to] = [results.indexOf(begin), results.indexOf(end)];
  const [before, after] =
    from < 0 || to < from
      ? [`${results.trimEnd()}\n\n`, '\n']
      : [results.slice(0, from), results.slice(to + end.length)];
  writeFileSync(page, `${before}${begin}\n${text}\n${end}${after}`);
  console.log(`Written to ${relative(ROOT, page)}`);
}
