/** The MQTT broker of the tests: finds mosquitto, or installs the package of the operating system. */
import { existsSync } from 'node:fs';
import { Stop, say, which } from './shell.mjs';
import { installSystemPackage } from './system-packages.mjs';

/** The PATH of users often has no sbin. */
const PLACES = ['/usr/sbin/mosquitto', '/usr/local/sbin/mosquitto', '/opt/homebrew/sbin/mosquitto'];
const PACKAGES = {
  'apt-get': 'mosquitto',
  dnf: 'mosquitto',
  apk: 'mosquitto',
  pacman: 'mosquitto',
  brew: 'mosquitto',
};
const OTHERWISE = 'Without it the tests of the MQTT publisher are skipped.';

export const findMosquitto = () => which('mosquitto') ?? PLACES.find((path) => existsSync(path));

/** @returns {Promise<string | undefined>} the program's path; undefined if it cannot be installed, with a message */
export async function ensureMosquitto() {
  const found = findMosquitto();
  if (found !== undefined) return found;
  try {
    const { privileged } = await installSystemPackage('mosquitto', PACKAGES, OTHERWISE);
    // The Debian package starts a broker on port 1883, which is not wanted here.
    if (which('systemctl')) await privileged(['systemctl', 'disable', '--now', 'mosquitto']);
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    say('mosquitto', `not installed: ${error.message}`);
  }
  return findMosquitto();
}
