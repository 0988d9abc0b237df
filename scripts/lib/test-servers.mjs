/** Servers of the tests that are packages of the operating system: an MQTT broker and a reverse proxy. */
import { existsSync } from 'node:fs';
import { Stop, say, which } from './shell.mjs';
import { installSystemPackage } from './system-packages.mjs';

/** The PATH of users often has no sbin. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/sbin'];
const find = (name) => which(name) ?? FOLDERS.map((folder) => `${folder}/${name}`).find((path) => existsSync(path));
const packages = (name, others = {}) => ({
  ...{ 'apt-get': name, dnf: name, apk: name, pacman: name, brew: name },
  ...others,
});

/** @returns {Promise<string | undefined>} the program's path; undefined if it cannot be installed, with a message */
async function ensure(name, names, otherwise) {
  const found = find(name);
  if (found !== undefined) return found;
  try {
    const { privileged } = await installSystemPackage(name, names, otherwise);
    // The Debian package starts a server on the usual port, which is not wanted here.
    if (which('systemctl')) await privileged(['systemctl', 'disable', '--now', name]);
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    say(name, `not installed: ${error.message}`);
  }
  return find(name);
}

export const findMosquitto = () => find('mosquitto');
export const ensureMosquitto = () =>
  ensure('mosquitto', packages('mosquitto'), 'Without it the tests of the MQTT publisher are skipped.');
export const findNginx = () => find('nginx');
export const ensureNginx = () =>
  ensure('nginx', packages('nginx', { 'apt-get': 'nginx-light' }), 'Without it a test of the console is skipped.');
