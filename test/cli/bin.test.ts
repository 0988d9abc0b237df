/** bin/scenedelta.js in checkouts of several states. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

let checkout: string;
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'sd-checkout-'));
  const settings = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];
  for (const part of ['bin', 'scripts/lib/cpu.mjs', ...settings]) {
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
  for (const folder of ['src', 'clients', 'console', 'openapi', 'scripts']) {
    cpSync(resolve(folder), join(checkout, folder), { recursive: true });
  }
  const { status, stdout, stderr } = await scenedelta('--version');
  expect(stderr).toBe('scenedelta: compiling, this once ...\n');
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+(-rc\.\d+)?\n$/) });
  expect(existsSync(join(checkout, 'dist/cli/main.js'))).toBe(true);
}, 180_000);

it('built, it runs at once', async () => {
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'));
  mkdirSync(join(checkout, 'dist'));
  cpSync(resolve('dist'), join(checkout, 'dist'), { recursive: true });
  const { stderr } = await scenedelta('--version');
  expect(stderr).toBe('');
});
