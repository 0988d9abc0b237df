/** bin/scenedelta.js in checkouts of several states. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';

// Processes start slowly on a busy machine.
jest.setTimeout(120_000);

let checkout: string;
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'sd-checkout-'));
  for (const part of ['bin', 'scripts/lib/cpu.mjs', 'package.json']) {
    cpSync(resolve(part), join(checkout, part), { recursive: true });
  }
});
afterEach(() => rmSync(checkout, { recursive: true }));

const scenedelta = (...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> =>
  new Promise((done) => {
    execFile(join(checkout, 'bin/scenedelta.js'), args, (error, stdout, stderr) =>
      done({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });

it('without packages it names the two commands that are missing', async () => {
  const { status, stderr } = await scenedelta('--version');
  expect(status).toBe(1);
  expect(stderr).toBe(`scenedelta is not built. Run once in ${checkout}/: npm ci && npm run build\n`);
});

it('never built, it compiles and then runs', async () => {
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'));
  const { scripts, ...settings } = JSON.parse(readFileSync(resolve('package.json'), 'utf8'));
  expect(scripts).toHaveProperty('build:program');
  // In place of the compilers, which npm test runs before its tests.
  const compilers = `echo compiled && ln -s ${JSON.stringify(resolve('dist'))} dist`;
  writeFileSync(
    join(checkout, 'package.json'),
    JSON.stringify({ ...settings, scripts: { 'build:program': compilers } }),
  );
  const { status, stdout, stderr } = await scenedelta('--version');
  expect(stderr).toBe('scenedelta: compiling, this once ...\ncompiled\n');
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+(-rc\.\d+)?\n$/) });
  expect(existsSync(join(checkout, 'dist/cli/main.js'))).toBe(true);
});

it('built, it runs at once', async () => {
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'));
  symlinkSync(resolve('dist'), join(checkout, 'dist'));
  const { stderr } = await scenedelta('--version');
  expect(stderr).toBe('');
});
