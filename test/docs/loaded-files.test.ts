/** The compiled files that a process loads at its start: what serves a few requests alone is loaded with the first. */
import { readFileSync } from 'node:fs';

const DIST = new URL('../../dist/', import.meta.url);
const IMPORT = /^(?:import|export)\b[^;]*?from '(\.[^']+)'|^import '(\.[^']+)'/gms;

/** @param entry path in dist/ @returns paths in dist/ of all files that it imports before it runs */
function loadedBy(entry: string): string[] {
  const files = [new URL(entry, DIST).href];
  const seen = new Set(files);
  // The loop appends to the list that it walks.
  for (const file of files) {
    if (!file.endsWith('.js')) continue;
    for (const [, from, alone] of readFileSync(new URL(file), 'utf8').matchAll(IMPORT)) {
      const next = new URL(from ?? alone ?? '', file).href;
      if (!seen.has(next)) files.push(next);
      seen.add(next);
    }
  }
  return files.map((file) => file.slice(DIST.href.length));
}

const API = loadedBy('api/main.js');
const WORKER = loadedBy('workers/main.js');

it.each([
  ['measures frames', 'viewpoint/examine.js'],
  ['opens graphs', 'model/session.js'],
  ['reads streams', 'outbound/rtsp.js'],
  ['writes briefs', 'brief/camera-brief.js'],
  ['stores in a bucket', 'stores/blobs/s3-client.js'],
])('a worker loads no file that %s at its start', (_what, file) => {
  expect(WORKER.includes(file)).toBe(false);
});

it.each([
  ['describes its routes', 'api/describe.js'],
  ['follows visits', 'camera/visits/match.js'],
  ['writes briefs', 'brief/camera-brief.js'],
  ['packs evidence', 'api/evidence/package.js'],
  ['reads the form of a batch', 'api/batches/read.js'],
  ['folds frames', 'camera/fold/fold.js'],
  ['decodes frames', 'frames/sharp.js'],
  ['reads queries', 'search/foreign.js'],
  ['writes templates', 'endpoints/formats/template.js'],
  ['describes comparisons', 'schemas/comparison.js'],
])('the API loads no file that %s at its start', (_what, file) => {
  expect(API.includes(file)).toBe(false);
});

/** @returns the lines of the sources of compiled files; the bundle of TypeBox has no source here */
const linesOf = (files: readonly string[]): number =>
  files
    .filter((file) => file.endsWith('.js') && !file.startsWith('typebox/'))
    .map((file) => readFileSync(new URL(`../src/${file.replace(/js$/, 'ts')}`, DIST), 'utf8').split('\n').length - 1)
    .reduce((sum, lines) => sum + lines, 0);

it.each([
  ['The API', API, 22_000],
  ['A worker', WORKER, 34_000],
])('%s loads few lines of source at its start', (_process, files, most) => {
  expect(linesOf(files)).toBeLessThanOrEqual(most);
});

it('finds the files that are loaded', () => {
  expect(WORKER).toContain('pipeline/compare.js');
  expect(API).toContain('api/routes/brief.js');
});
