/** Changes as CSV (RFC 4180): a header line, CRLF, and no cell that a spreadsheet would run as a formula. */
import { stringify } from 'csv-stringify/sync';
import { roundFigures } from '../../schemas/rounding.js';
import type { FootageChange, Moment } from '../records.js';

type Cell = string | number | null;

/** A time has two columns and a third for the file, because a change may begin in one file and end in another. */
const moment = (
  name: string,
  of: (change: FootageChange) => Moment | null,
): [string, (change: FootageChange) => Cell][] => [
  [`${name}_at`, (change) => of(change)?.at ?? null],
  [`${name}_file`, (change) => of(change)?.file ?? null],
  [`${name}_seconds`, (change) => of(change)?.seconds ?? null],
];

const COLUMNS: readonly [string, (change: FootageChange) => Cell][] = [
  ['id', ({ id }) => id],
  ['camera', ({ camera }) => camera],
  ['kind', ({ kind }) => kind],
  ['caption', ({ caption }) => caption],
  ['confidence', ({ confidence }) => confidence],
  ['severity', ({ severity }) => severity],
  ['zone', ({ zone }) => zone],
  ['status', ({ status }) => status],
  ...moment('first_seen', ({ first_seen }) => first_seen),
  ...moment('confirmed', ({ confirmed }) => confirmed),
  ...moment('last_seen', ({ last_seen }) => last_seen),
  ...moment('settled', ({ settled }) => settled),
  ...moment('reverted', ({ reverted }) => reverted),
  ...moment('pictured', ({ pictured }) => pictured ?? null),
  // of the strongest region
  ['side', ({ regions: [region] }) => region?.side ?? null],
  ['x', ({ regions: [region] }) => region?.box.x ?? null],
  ['y', ({ regions: [region] }) => region?.box.y ?? null],
  ['width', ({ regions: [region] }) => region?.box.width ?? null],
  ['height', ({ regions: [region] }) => region?.box.height ?? null],
  ['before', ({ pictures }) => pictures.before],
  ['after', ({ pictures }) => pictures.after],
  ['clip', ({ clip }) => clip ?? null],
];

const row = (cells: readonly Cell[]): string =>
  // A cell that begins with =, +, -, @, a tab or a carriage return gets an apostrophe before it.
  stringify([cells], { record_delimiter: 'windows', escape_formulas: true });

/** An unknown time is an empty cell. */
export function* changesCsv(changes: Iterable<FootageChange>): Generator<string> {
  yield row(COLUMNS.map(([name]) => name));
  for (const change of changes) {
    const rounded = roundFigures(change);
    yield row(COLUMNS.map(([, cell]) => cell(rounded)));
  }
}
