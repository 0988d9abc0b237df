/**
 * `npm run bench [-- --only=NAME,NAME] [--again] [--loaded]`: measures the sections of RESULTS.md, one after the other,
 * each by its own command with --write. A section of the bundle that ships is not measured again, so that the command
 * goes on after an interruption. A machine with other work is refused, because its figures would be of that work.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOptions } from '../../scripts/lib/options.mjs';
import { run, runMain, Stop, say } from '../../scripts/lib/shell.mjs';
import { busyShare, commandLine, RESULTS, shippedBundle } from './lib/report.mjs';

/** Names of benches, with their options; those that need labelled pairs are not among them. */
const SECTIONS = [
  ['start'],
  ['model'],
  ['latency', '--count=80'],
  ['overhead'],
  ['cameras', '--seconds=8'],
  ['accept', '--seconds=6'],
  ['load'],
  ['footage', '--hour'],
  ['when', '--count=8'],
  ['search', '--changes=20000', '--inserts=2000'],
  ['replay', '--kill'],
];
/** Share of the processors' time from which on a machine is not quiet. */
const QUIET = 0.1;
/** The work of the last section is over after at most this time. */
const SETTLE_MS = 2 * 60_000;

const { values } = readOptions({
  ...{ only: { type: 'string' }, again: { type: 'boolean' }, loaded: { type: 'boolean' } },
});

/** Whether RESULTS.md has the section of this command for the bundle that ships. */
function isMeasured(name, options) {
  const sections = readFileSync(RESULTS, 'utf8').split(/^## /m);
  const command = `\`${commandLine(name, options)}\``;
  return sections.some((section) => section.includes(command) && section.includes(`\n${shippedBundle()}\n`));
}

/** @throws Stop if other programs use the machine */
async function waitUntilQuiet() {
  const until = performance.now() + SETTLE_MS;
  for (let busy = busyShare(); busy > QUIET; busy = busyShare()) {
    if (performance.now() > until) {
      const percent = (share) => `${(100 * share).toFixed(0)} %`;
      throw new Stop(
        `The processors are busy ${percent(busy)} of the time, expected at most ${percent(QUIET)}. ` +
          '--loaded measures anyway',
      );
    }
    await sleep(1000);
  }
}

await runMain(async () => {
  const names = values.only?.split(',') ?? SECTIONS.map(([name]) => name);
  const unknown = names.filter((name) => !SECTIONS.some(([known]) => known === name));
  if (unknown.length > 0) {
    throw new Stop(`--only=${unknown.join()}: expected some of ${SECTIONS.map(([name]) => name).join(', ')}`);
  }
  const failed = [];
  for (const [name, ...options] of SECTIONS) {
    if (!names.includes(name)) continue;
    if (!values.again && isMeasured(name, options)) {
      say(name, 'is measured for this bundle');
      continue;
    }
    if (!values.loaded) await waitUntilQuiet();
    say(name, 'is measured');
    const { ok } = await run('npm', ['run', '--silent', 'bench', '--', name, ...options, '--write'], { show: true });
    if (!ok) failed.push(name);
  }
  if (failed.length > 0) throw new Stop(`Failed: ${failed.join(', ')}`);
});
