/** The browser of the console's tests: finds Chromium, or installs the package of the operating system. */
import { Stop, say, which } from './shell.mjs';
import { installSystemPackage } from './system-packages.mjs';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PACKAGES = { 'apt-get': 'chromium', dnf: 'chromium', apk: 'chromium', pacman: 'chromium' };
const OTHERWISE = 'Without it the tests of the console are skipped.';

export const findChromium = () => PROGRAMS.map(which).find((path) => path !== undefined);

/** @returns {Promise<string | undefined>} the program's path; undefined if it cannot be installed, with a message */
export async function ensureChromium() {
  const found = findChromium();
  if (found !== undefined) return found;
  try {
    await installSystemPackage('chromium', PACKAGES, OTHERWISE);
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    say('chromium', `not installed: ${error.message}`);
  }
  return findChromium();
}
