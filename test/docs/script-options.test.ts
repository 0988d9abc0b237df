/** Scripts that would work for minutes, or start a service, without what a misspelt option asked for. */
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
  ['up.mjs', '--port=9000'],
  ['write-resampler.mjs', '--chekc'],
  ['fit-viewpoint.mjs', '--tamper'],
])(
  '%s refuses %s with one line',
  async (script, arg) => {
    const { status, stderr } = await call(script, arg);
    expect(status).toBe(2);
    expect(stderr).toMatch(new RegExp(`^unknown option "${arg}": expected --.*\n$`));
  },
  60_000,
);
