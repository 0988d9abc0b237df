/** The statements of a caption of the captions' grammar, for findings that a test makes. */
import { readClauses } from '../../src/language/read-clauses.js';
import type { Content } from '../../src/schemas/statement.js';

export const contentOf = (caption: string): Content => ({
  statements: readClauses(caption.split(' ')).flatMap(({ statement }) => statement ?? []),
  more: 0,
});
