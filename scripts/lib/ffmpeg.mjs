/** ffmpeg, which tests of cameras and footage run: finds or installs it. */
import { probe, Stop, which } from './shell.mjs';
import { installSystemPackage } from './system-packages.mjs';

/** The package of Fedora is built without patented codecs. */
const PACKAGES = { 'apt-get': 'ffmpeg', dnf: 'ffmpeg-free', apk: 'ffmpeg', pacman: 'ffmpeg', brew: 'ffmpeg' };
const OTHERWISE = 'Or put ffmpeg and ffprobe into PATH: https://ffmpeg.org/download.html';
/** Each package has both. */
const PROGRAMS = ['ffmpeg', 'ffprobe'];

/** @returns the path of ffmpeg; ffprobe is in PATH as well. @throws Stop if one is neither there nor installable. */
export async function ensureFfmpeg() {
  if (!PROGRAMS.every(which)) await installSystemPackage('ffmpeg', PACKAGES, OTHERWISE);
  for (const program of PROGRAMS) {
    const path = which(program);
    if (path === undefined) {
      throw new Stop(`The package ffmpeg was installed, but ${program} is not in PATH.\n${OTHERWISE}`);
    }
    const { ok, output } = probe(path, ['-hide_banner', '-version']);
    if (!ok) throw new Stop(`${path} -version failed:\n${output.trim().slice(-2000)}\n${OTHERWISE}`);
  }
  return which('ffmpeg');
}
