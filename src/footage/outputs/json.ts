/** Records as NDJSON, one per line, and a recording as one JSON document. */
import { roundFigures } from '../../schemas/rounding.js';
import type { Recording } from './recording.js';

type Records = Iterable<object> | AsyncIterable<object>;

/** One line per record, each ended by a line feed. Figures are rounded as in answers. */
export async function* ndjson(records: Records): AsyncGenerator<string> {
  for await (const record of records) yield line(roundFigures(record));
}

/** The same at full precision, for evidence that is compared with thresholds again. */
export async function* exactNdjson(records: Records): AsyncGenerator<string> {
  for await (const record of records) yield line(record);
}

const line = (record: object): string => `${JSON.stringify(record)}\n`;

/** The summary and all records; one record per line, so that `grep` and `diff` work on them. */
export function* changesJson({ summary, changes, visits, gaps, failures }: Recording): Generator<string> {
  yield `{\n"v": 1,\n"summary": ${JSON.stringify(roundFigures(summary))}`;
  for (const [name, records] of Object.entries({ changes, visits, gaps, failures })) {
    yield `,\n"${name}": [`;
    for (const [i, record] of records.entries()) yield `${i === 0 ? '' : ','}\n${JSON.stringify(roundFigures(record))}`;
    yield records.length === 0 ? ']' : '\n]';
  }
  yield '\n}\n';
}
