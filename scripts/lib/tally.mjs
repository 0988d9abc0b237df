/** Runs checks and test tools and sums their results. */
import { readFileSync } from 'node:fs';
import { run, say, seconds } from './shell.mjs';

export class Tally {
  passed = 0;
  failed = 0;
  skipped = 0;

  add({ passed = 0, failed = 0, skipped = 0 }) {
    this.passed += passed;
    this.failed += failed;
    this.skipped += skipped;
  }

  /** Runs one command that passes or fails as a whole; its output is printed only if it fails. */
  async check(name, command, args) {
    const start = Date.now();
    const { ok, output } = await run(command, args);
    say(ok ? 'passed' : 'FAILED', `${name} (${seconds(start)})`);
    if (!ok) console.log(`${output.trim()}\n`);
    this.add(ok ? { passed: 1 } : { failed: 1 });
    return ok;
  }

  skip(name, reason) {
    say('skipped', `${name}: ${reason}`);
    this.add({ skipped: 1 });
  }

  /** Runs jest with its usual output; the results come from its JSON report. */
  async jest(title, args, report) {
    console.log(`\n${title}`);
    const { ok } = await run('npm', ['run', '--silent', 'jest', '--', ...args, '--json', `--outputFile=${report}`], {
      show: true,
    });
    const counts = readJest(report);
    this.add(counts);
    // A crashed runner, or a suite that cannot be loaded, fails without a failed test.
    if (!ok && counts.failed === 0) this.add({ failed: 1 });
  }

  /** Runs pytest; the results come from its JUnit report. */
  async pytest(python, args, report) {
    console.log('\ntraining and research (pytest)');
    const { ok } = await run(python, ['-m', 'pytest', ...args, `--junitxml=${report}`], { show: true });
    const counts = readJunit(report);
    this.add(counts);
    if (!ok && counts.failed === 0) this.add({ failed: 1 });
  }

  get line() {
    return `${this.passed} passed, ${this.failed} failed, ${this.skipped} skipped`;
  }
}

const NOTHING_COUNTED = { passed: 0, failed: 0, skipped: 0 };

const read = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

function readJest(path) {
  const text = read(path);
  if (text === undefined) return NOTHING_COUNTED;
  const report = JSON.parse(text);
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

function readJunit(path) {
  const suite = /<testsuite [^>]*>/.exec(read(path) ?? '')?.[0];
  if (suite === undefined) return NOTHING_COUNTED;
  const number = (name) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
  const failed = number('failures') + number('errors');
  return { passed: number('tests') - failed - number('skipped'), failed, skipped: number('skipped') };
}
