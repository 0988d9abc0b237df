/** `scenedelta search QUERY FOLDER...`: searches the results of `scenedelta footage` without a service. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { counted } from '../base/counted.js';
import { invalidRequest, type ScenedeltaError } from '../base/errors.js';
import { jsonFault } from '../base/json-fault.js';
import { present } from '../base/present.js';
import { assertTimeZone, localTimeZone } from '../base/wall-clock.js';
import { parseCalendarTime } from '../footage/inputs/times.js';
import {
  type FootageChange,
  FootageChangeSchema,
  type FootageSummary,
  type FootageVisit,
  FootageVisitSchema,
  type Moment,
} from '../footage/records.js';
import { FILTER_KINDS, type FilterKind, SEVERITIES, type Severity } from '../schemas/kinds.js';
import { inEnglish } from '../search/foreign.js';
import { havingAll } from '../search/query.js';
import type { SearchFilter } from '../search/scope.js';
import { type Hit, SearchIndex, type SearchResult } from '../search/search-index.js';
import { createCommand } from './command.js';
import { formatMoment } from './footage/report-lines.js';
import { printLine } from './print.js';

interface Options {
  readonly camera?: string;
  readonly zone?: string;
  readonly kind?: string;
  readonly severity?: string;
  readonly since?: string;
  readonly until?: string;
  readonly tz?: string;
  readonly limit: string;
  readonly json?: true;
}
/** A change with the folder or file that it was read from. */
interface Found {
  readonly from: string;
  readonly change: FootageChange;
}
interface FoundVisit {
  readonly from: string;
  /** of its begin */
  readonly at: number;
  readonly visit: FootageVisit;
}

/** Files of one run with the same changes; the first that exists is read. */
const FILES = ['changes.ndjson', 'changes.json'];
const VISITS = 'visits.ndjson';
/** Names the time zone of the results. */
const SUMMARY = 'changes.json';
const LONGEST_QUERY = 500;

export const command = createCommand('search')
  .description(
    'Searches the results of `scenedelta footage` for words: "a red car has left". The best answers come first; words ' +
      'that were read as others, and unknown ones, are named. Visits with all the words follow.',
  )
  .argument('<query>', 'words to search for')
  .argument('<results...>', 'folders of results, or files changes.ndjson or changes.json')
  .option('--camera <name>', 'only changes of this camera')
  .option('--zone <id>', 'only changes in this zone')
  .option('--kind <kind>', `only changes of this kind: ${FILTER_KINDS.join(', ')}`)
  .option('--severity <severity>', `only changes of this severity: ${SEVERITIES.join(', ')}`)
  .option('--since <time>', 'only changes confirmed at this time or later, as 2026-06-01T08:00:00Z')
  .option('--until <time>', 'only changes confirmed before this time')
  .option(
    '--tz <zone>',
    'time zone of times that are printed, and of those without one; default: that of the results, else of this machine',
  )
  .option('-n, --limit <count>', 'most answers', '20')
  .option('--json', 'print the answer as JSON')
  .action(run);

async function run(query: string, results: readonly string[], options: Options): Promise<void> {
  const zones = await readZones(results);
  const { filter, limit, zoneOf } = readOptions(query, options, zones);
  const changes = new Map<string, Found>();
  const index = new SearchIndex();
  for (const path of results) {
    for (const change of await readChanges(path)) {
      // Two runs over one recording give the same ids.
      const id = `${path}\n${change.id}`;
      changes.set(id, { from: path, change });
      index.put({ ...change, id, confirmed_at: confirmation(change.confirmed) });
    }
  }
  const english = inEnglish(query).text;
  const found = index.search(english, filter);
  const hits = found.hits.slice(0, limit).map((hit) => ({ ...(changes.get(hit.id) as Found), hit }));
  const visits = await findVisits(results, english, filter);
  const answer = { found, hits, visits: visits.slice(0, limit) };
  printLine(options.json ? JSON.stringify(document(answer), null, 2) : lines(answer, zoneOf));
}

/** @returns the latest begun first; none if the filter asks for what visits do not have */
async function findVisits(results: readonly string[], query: string, filter: SearchFilter): Promise<FoundVisit[]> {
  const { camera, since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = filter;
  if (filter.zone !== undefined || filter.kind !== undefined || filter.severity !== undefined) return [];
  const hasAll = havingAll(query);
  const found: FoundVisit[] = [];
  for (const from of results) {
    const file = join(from, VISITS);
    if (!(await isA('isFile', file))) continue;
    const records = parseLines(await readFile(file, 'utf8'), file);
    for (const visit of checked<FootageVisit>('visit', FootageVisitSchema, records, file)) {
      const at = Date.parse(confirmation(visit.first_seen));
      const inTime = at >= since && at < until;
      if (visit.kind === 'visit' && inTime && (camera?.(visit.camera) ?? true) && hasAll(visit))
        found.push({ from, at, visit });
    }
  }
  return found.sort((a, b) => b.at - a.at);
}

/** By camera, the time zone in which its results state their times. */
type Zones = ReadonlyMap<string, string>;

/** @returns those that the results name */
async function readZones(results: readonly string[]): Promise<Zones> {
  const zones = new Map<string, string>();
  for (const path of results) {
    const file = path.endsWith('.json') ? path : join(path, SUMMARY);
    if (!(await isA('isFile', file))) continue;
    const { summary } = parse(await readFile(file, 'utf8'), file) as { summary?: FootageSummary };
    for (const { camera, timezone } of summary?.cameras ?? []) if (timezone !== undefined) zones.set(camera, timezone);
  }
  return zones;
}

/** @returns the filter, and the time zone in which times of a camera are printed */
function readOptions(
  query: string,
  options: Options,
  zones: Zones,
): { filter: SearchFilter; limit: number; zoneOf: (camera: string) => string } {
  if (query.trim() === '' || query.length > LONGEST_QUERY) {
    throw bad('the query', query.slice(0, 40), `1 to ${LONGEST_QUERY} characters`);
  }
  const limit = Number(options.limit);
  if (!/^\d{1,6}$/.test(options.limit) || limit < 1) throw bad('--limit', options.limit, 'a whole number from 1');
  const { camera, zone, tz } = options;
  const given = tz === undefined ? undefined : assertTimeZone(tz, '--tz');
  const named = [...new Set(zones.values())];
  // Results of several time zones leave open which one a time without any is in.
  const timeZone = given ?? (named.length === 1 ? (named[0] as string) : localTimeZone());
  const kind = oneOf(FILTER_KINDS, options.kind, '--kind');
  const severity = oneOf(SEVERITIES, options.severity, '--severity');
  const since = options.since === undefined ? undefined : time(options.since, '--since', timeZone);
  const until = options.until === undefined ? undefined : time(options.until, '--until', timeZone);
  return {
    filter: {
      ...(camera === undefined ? {} : { camera: (name: string) => name === camera }),
      ...present({ zone, kind, severity, since, until }),
    },
    limit,
    zoneOf: (name) => given ?? zones.get(name) ?? timeZone,
  };
}

function oneOf<T extends FilterKind | Severity>(values: readonly T[], given: string | undefined, name: string) {
  const value = values.find((one) => one === given);
  if (given !== undefined && value === undefined) throw bad(name, given, `one of ${values.join(', ')}`);
  return value;
}

function time(given: string, name: string, timeZone: string): number {
  const at = parseCalendarTime(given, timeZone);
  if (at === null) throw bad(name, given, 'a time as 2026-06-01T08:00:00Z');
  return at;
}

const bad = (name: string, given: string, expected: string): ScenedeltaError =>
  invalidRequest(`${name}=${JSON.stringify(given)}: expected ${expected}`, name);

/** Recordings without capture times are ordered by the time in their files. */
const confirmation = ({ at, seconds }: Moment): string => at ?? new Date(seconds * 1000).toISOString();

/** @throws ScenedeltaError 'invalid-request' naming the file, and the line that is no change */
async function readChanges(path: string): Promise<FootageChange[]> {
  const file = await changesFile(path);
  const text = await readFile(file, 'utf8');
  const changes = file.endsWith('.json') ? parse(text, file).changes : parseLines(text, file);
  if (!Array.isArray(changes)) throw bad('the results', file, 'a list "changes" in it');
  return checked('change', FootageChangeSchema, changes, file);
}

/** @throws ScenedeltaError 'invalid-request' naming the file and the record that is none */
function checked<T>(what: 'change' | 'visit', schema: TSchema, records: readonly unknown[], file: string): T[] {
  for (const [i, record] of records.entries()) {
    if (Value.Check(schema, record)) continue;
    const [first] = Value.Errors(schema, record);
    const fault = `${first?.instancePath || 'the record'} ${first?.message ?? 'does not fit the schema'}`;
    throw invalidRequest(`${file}: ${what} ${i + 1} is no ${what} of footage: ${fault}`);
  }
  return records as T[];
}

async function changesFile(path: string): Promise<string> {
  const candidates = (await isA('isDirectory', path)) ? FILES.map((name) => join(path, name)) : [path];
  for (const file of candidates) if (await isA('isFile', file)) return file;
  throw bad('the results', path, `a folder with ${FILES.join(' or ')}, or such a file`);
}

const isA = (what: 'isFile' | 'isDirectory', path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found[what](),
    () => false,
  );

const parseLines = (text: string, file: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => parse(line, file));

function parse(text: string, file: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest(`${file}: ${JSON.stringify(text.slice(0, 60))} is no JSON: ${jsonFault(text)}`);
  }
}

interface Answer {
  readonly found: SearchResult;
  readonly hits: readonly (Found & { readonly hit: Hit })[];
  readonly visits: readonly FoundVisit[];
}

const document = ({ found: { interpretedAs, unknownWords, allWords, changes }, hits, visits }: Answer) => ({
  items: hits.map(({ from, change, hit: { score, words } }) => ({ from, ...change, match: { score, words } })),
  search: { interpreted_as: interpretedAs, unknown_words: unknownWords, all_words: allWords, changes },
  visits: { items: visits.map(({ from, visit }) => ({ from, ...visit })) },
});

function lines({ found, hits, visits }: Answer, zoneOf: (camera: string) => string): string {
  const { hits: all, interpretedAs, unknownWords, allWords, changes } = found;
  const notes = [
    ...interpretedAs.map(({ word, as, by }) => `"${word}" was read as ${as.join(', ')} (${by})`),
    ...(unknownWords.length === 0 ? [] : [`unknown: ${unknownWords.join(', ')}`]),
    ...(allWords || all.length === 0 ? [] : ['no change matches all words; the nearest:']),
  ];
  const row = (
    from: string,
    moment: Moment,
    { camera, caption }: Pick<FootageChange, 'camera' | 'caption'>,
    why: string,
  ) => {
    const place = `${moment.file} at ${moment.seconds} s`;
    const time = formatMoment(moment, zoneOf(camera));
    return `${time ?? place}  ${camera}: ${caption}  [${why}]  ${time === null ? from : `${from}, ${place}`}`;
  };
  const rows = hits.map(({ from, change, hit: { words } }) =>
    row(from, change.confirmed, change, words.map(({ matched }) => matched).join(', ')),
  );
  const visitRows = visits.map(({ from, visit }) => row(from, visit.first_seen, visit, 'visit'));
  const more = all.length > hits.length ? `, the first ${hits.length} are shown` : '';
  return [...notes, ...rows, `${all.length} of ${counted(changes, 'change')}${more}`, ...visitRows].join('\n');
}
