/**
 * Alertmanager for the tests of its format: in PATH, or unpacked from Debian's package without installing it, because
 * the installed package runs a service. Debian's program reads its templates from one place of the system, so they are
 * copied there.
 */
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run, say, which } from './shell.mjs';

const PACKAGE = 'prometheus-alertmanager';
const FOLDER = join(ROOT, 'node_modules/.cache/scenedelta/alertmanager');
const TEMPLATES = '/usr/share/prometheus/alertmanager';

/** @returns the paths of the server and of amtool; undefined if they are not there */
export function findAlertmanager() {
  const found = ['prometheus-alertmanager', 'amtool'].map((name) => {
    const unpacked = join(FOLDER, 'usr/bin', name);
    return which(name) ?? (existsSync(unpacked) ? unpacked : undefined);
  });
  const [server, amtool] = found;
  if (server === undefined || amtool === undefined) return undefined;
  return server.startsWith(FOLDER) && !existsSync(TEMPLATES) ? undefined : { server, amtool };
}

/** @returns as findAlertmanager, after an attempt to get it, with a message if that failed */
export async function ensureAlertmanager() {
  if (findAlertmanager() !== undefined || !(which('apt-get') && which('dpkg-deb'))) return findAlertmanager();
  mkdirSync(FOLDER, { recursive: true });
  const { ok, output } = await run('apt-get', ['download', '-q', PACKAGE], { cwd: FOLDER });
  const file = readdirSync(FOLDER).find((name) => name.endsWith('.deb'));
  if (ok && file !== undefined) {
    await run('dpkg-deb', ['-x', join(FOLDER, file), FOLDER]);
    copyTemplates();
  } else say('alertmanager', `not downloaded: ${output.trim().split('\n').at(-1)}`);
  return findAlertmanager();
}

function copyTemplates() {
  try {
    if (!existsSync(TEMPLATES)) cpSync(join(FOLDER, TEMPLATES), TEMPLATES, { recursive: true });
  } catch (error) {
    say('alertmanager', `its templates cannot be copied to ${TEMPLATES}: ${error.message}`);
  }
}
