/**
 * Sentence of a camera's comparison of which some regions do not count: nothing in it is about those. The captioner
 * describes both frames as a whole, so its sentence may name a thing in an ignored zone. Pure.
 */
import { withUsefulPlaces } from '../../language/order.js';
import { isFunctionWord, plainStatement } from '../../language/plain.js';
import type { Word } from '../../language/thing.js';
import { asSentence, joinClauses, textOf, write, writeContent, writeWords } from '../../language/write.js';
import type { Finding, LocatedStatement, Region } from '../../schemas/comparison.js';
import { SIDES_OF_KIND, type StatementKind } from '../../schemas/kinds.js';
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
    return keepClauses(finding, kind, kept);
  }
  const stated = texts.map((text) => statements.find((one) => one.text === text) as LocatedStatement);
  const plain = plainStatement(kind, boxOf(kind, regions));
  const content = texts.length > 0 ? contentOf(stated) : { statements: [plain], more: 0 };
  const caption = content === undefined ? texts.join(' ') : writeContent(content);
  const score = texts.length > 0 ? geometricMean(stated) : finding.caption_score;
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

/** A word with its position in the caption. */
type PlacedWord = Word & { readonly at: number };

interface CaptionClause {
  readonly text: string;
  readonly statement: Statement;
  readonly words: readonly PlacedWord[];
}

/** The clauses of the caption; none if it is not written as its content says. */
function clausesOf({ caption, content }: Finding): CaptionClause[] {
  if (content === undefined || writeContent(content) !== caption) return [];
  const clauses = withUsefulPlaces(content.statements).map((useful, clause) =>
    writeWords(useful).map((word) => ({ ...word, clause })),
  );
  const joined = joinClauses(clauses, (text) => ({ text, role: 'link' as const, thing: null, clause: -1 }));
  return content.statements.map((statement, i) => {
    const positions = joined.flatMap(({ clause }, at) => (clause === i ? [at] : []));
    const words = (clauses[i] ?? []).map((word, k) => ({ ...word, at: positions[k] as number }));
    return { text: write(statement), statement, words };
  });
}

/** The caption of some of its clauses, in its own words. */
function keepClauses(finding: Finding, kind: Finding['kind'], kept: readonly CaptionClause[]): RestatedFinding {
  const statements = kept.map(({ statement }) => statement);
  const useful = withUsefulPlaces(statements);
  const clauses = kept.map(({ words }, i) =>
    useful[i]?.place === null ? words.filter(({ role }) => role !== 'place') : words,
  );
  // A word between two clauses that the caption does not have is about nothing, as articles are.
  const article = Math.max(
    0,
    finding.words.findIndex(({ text }) => isFunctionWord(text.toLowerCase())),
  );
  const placed = asSentence(
    joinClauses<PlacedWord>(clauses, (text, [first]) => {
      const before = (first?.at ?? 0) - 1;
      return { text, role: 'link', thing: null, at: finding.words[before]?.text === text ? before : article };
    }),
  );
  const words = placed.map(({ text, at }) => ({ text, score: finding.words[at]?.score as number }));
  const content = { statements, more: 0 };
  return {
    finding: { ...finding, kind, caption: textOf(words), caption_score: geometricMean(words), words, content },
    words: placed.map(({ at }) => at),
  };
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

const geometricMean = (scored: readonly { readonly score: number }[]): number =>
  Math.exp(scored.reduce((sum, { score }) => sum + Math.log(score), 0) / scored.length);
