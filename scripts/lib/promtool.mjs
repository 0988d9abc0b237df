/** promtool, which checks the alert rules of Prometheus: finds it, or installs the package of the operating system. */
import { Stop, say, which } from './shell.mjs';
import { installSystemPackage } from './system-packages.mjs';

const PACKAGES = { 'apt-get': 'prometheus', apk: 'prometheus', pacman: 'prometheus', brew: 'prometheus' };
const OTHERWISE = 'Without it the tests of the alert rules are skipped.';

/** @returns {Promise<string | undefined>} the program's path; undefined if it cannot be installed, with a message */
export async function ensurePromtool() {
  if (which('promtool') !== undefined) return which('promtool');
  try {
    const { privileged } = await installSystemPackage('promtool', PACKAGES, OTHERWISE);
    // The Debian package starts a server on port 9090, which is not wanted here.
    if (which('systemctl')) await privileged(['systemctl', 'disable', '--now', 'prometheus']);
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    say('promtool', `not installed: ${error.message}`);
  }
  return which('promtool');
}
