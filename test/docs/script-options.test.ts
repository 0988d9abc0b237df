/** A script refuses a misspelt option, because it would otherwise work for minutes, or start a service, without it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const scripts = fileURLToPath(new URL('../../scripts/', import.meta.url));
const call = (script: string, arg: string): Promise<{ status: unknown; stderr: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [`${scripts}${script}`, arg], (error, _, stderr) =>
      resolve({ status: error === null ? 0 : error.code, stderr }),
    );
  });

it.each([
  ['up.mjs', '--port=9000', "Unknown option '--port'"],
  ['up.mjs', '--demo=yes', "Option '--demo' does not take an argument"],
  ['up.mjs', 'demo', "Unexpected argument 'demo'"],
  ['write-webassembly.mjs', '--chekc', "Unknown option '--chekc'"],
  ['fit-viewpoint.mjs', '--tamper', "Unknown option '--tamper'"],
  ['pin-images.mjs', '--mirror=x', "Unknown option '--mirror'"],
  ['compare-predictions.mjs', 'one.ndjson', 'Got 1 arguments'],
])(
  '%s refuses %s with one line',
  async (script, arg, message) => {
    const { status, stderr } = await call(script, arg);
    expect(status).toBe(2);
    expect(stderr).toMatch(new RegExp(`^${message}: expected .*\n$`));
  },
  60_000,
);
