/**
 * Sentence of a camera's comparison of which some regions do not count: nothing in it is about those. The captioner
 * describes both frames as a whole, so its sentence may name a thing in an ignored zone. Pure.
 */
import { plainStatement } from '../../language/plain.js';
import { positionsOf } from '../../language/read-clauses.js';
import { textOf, write, writeContent } from '../../language/write.js';
import {
  type Finding,
  type LocatedStatement,
  type Region,
  SIDES_OF_KIND,
  type StatementKind,
} from '../../schemas/comparison.js';
import type { Content, Statement } from '../../schemas/statement.js';

/** As many as a caption of the model has. */
const MOST_STATEMENTS = 2;

interface RestatedFinding {
  readonly finding: Finding;
  /** per word its position in the earlier caption; null: the sentence is another one */
  readonly words: readonly number[] | null;
}

/**
 * The clauses of the caption that the remaining statements repeat; otherwise these statements themselves; without any,
 * a plain sentence. The kind follows them.
 * @param finding a change with regions, all of which count, and with the caption for more regions
 */
export function restate(finding: Finding): RestatedFinding {
  const { regions, statements = [] } = finding;
  const texts = [...new Set(statements.map(({ text }) => text))].slice(0, MOST_STATEMENTS);
  const kinds = new Set(statements.map((one) => one.kind));
  const [only] = kinds;
  const kind = only === undefined ? kindOfRegions(finding.kind, regions) : kinds.size > 1 ? 'multi' : only;

  const kept = clausesOf(finding).filter(({ text }) => texts.includes(text));
  if (texts.length > 0 && new Set(kept.map(({ text }) => text)).size === texts.length) {
    const positions = positionsOf(kept);
    const words = positions.map((i) => finding.words[i] as Finding['words'][number]);
    const score = geometricMean(words.map((word) => word.score));
    const content = { statements: kept.map(({ statement }) => statement), more: 0 };
    return {
      finding: { ...finding, kind, caption: textOf(words), caption_score: score, words, content },
      words: positions,
    };
  }
  const stated = texts.map((text) => statements.find((one) => one.text === text) as LocatedStatement);
  const plain = plainStatement(kind, boxOf(kind, regions));
  const content = texts.length > 0 ? contentOf(stated) : { statements: [plain], more: 0 };
  const caption = texts.length > 0 ? texts.join(' and ') : write(plain);
  const score = texts.length > 0 ? geometricMean(stated.map((one) => one.score)) : finding.caption_score;
  const words = caption.split(' ').map((text) => ({ text, score }));
  const { content: _former, ...rest } = finding;
  const restated = { ...rest, kind, caption, caption_score: score, words };
  return { finding: content === undefined ? restated : { ...restated, content }, words: null };
}

/** @returns undefined if a statement is of another grammar */
function contentOf(stated: readonly LocatedStatement[]): Content | undefined {
  const statements = stated.flatMap(({ content }) => content ?? []);
  return statements.length === stated.length ? { statements, more: 0 } : undefined;
}

interface CaptionClause {
  readonly text: string;
  readonly statement: Statement;
  /** positions in the caption */
  readonly words: readonly number[];
}

/** The clauses of the caption; none if it is not written as its content says. */
function clausesOf({ caption, content }: Finding): CaptionClause[] {
  if (content === undefined || writeContent(content) !== caption) return [];
  let next = 0;
  return content.statements.map((statement) => {
    const text = write(statement);
    const words = text.split(' ').map((_, i) => next + i);
    next += words.length + 1;
    return { text, statement, words };
  });
}

/** @returns the kind of the comparison if the regions show it; otherwise what their sides show */
function kindOfRegions(kind: Finding['kind'], regions: readonly Region[]): Finding['kind'] {
  const sides = new Set(regions.map(({ side }) => side));
  if (isOneAction(kind) && SIDES_OF_KIND[kind].every((side) => sides.has(side))) return kind;
  if (sides.size > 1) return 'multi';
  return sides.has('after') ? 'appear' : 'disappear';
}

const isOneAction = (kind: Finding['kind']): kind is StatementKind => kind in SIDES_OF_KIND;

/** @param regions the strongest first. @returns the box of the strongest on a side that shows the kind */
const boxOf = (kind: Finding['kind'], regions: readonly Region[]) =>
  isOneAction(kind) ? regions.find(({ side }) => SIDES_OF_KIND[kind].some((one) => one === side))?.box : undefined;

const geometricMean = (scores: readonly number[]): number =>
  Math.exp(scores.reduce((sum, score) => sum + Math.log(score), 0) / scores.length);
