/**
 * Sentence of a camera's comparison of which some regions do not count: nothing in it is about those. The captioner
 * describes both frames as a whole, so its sentence may name a thing in an ignored zone. Pure.
 */
import { clausesOf, joinClauses } from '../model/clauses.js';
import { plainSentence } from '../model/wording.js';
import { type Finding, type Region, SIDES_OF_KIND, type StatementKind } from '../schemas/comparison.js';

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

  const words = finding.words.map(({ text }) => text);
  const textOf = (own: readonly number[]) => own.map((i) => words[i]).join(' ');
  const kept = clausesOf(words).filter((clause) => texts.includes(textOf(clause.words)));
  if (texts.length > 0 && new Set(kept.map((clause) => textOf(clause.words))).size === texts.length) {
    const positions = joinClauses(kept);
    const own = positions.map((i) => finding.words[i] as Finding['words'][number]);
    const score = geometricMean(own.map((word) => word.score));
    return {
      finding: { ...finding, kind, caption: textOf(positions), caption_score: score, words: own },
      words: positions,
    };
  }
  const caption = texts.length > 0 ? texts.join(' and ') : plainSentence(kind, boxOf(kind, regions));
  const scores = texts.map((text) => statements.find((one) => one.text === text)?.score ?? 0);
  const score = texts.length > 0 ? geometricMean(scores) : finding.caption_score;
  const scored = caption.split(' ').map((text) => ({ text, score }));
  return { finding: { ...finding, kind, caption, caption_score: score, words: scored }, words: null };
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
  isOneAction(kind) ? regions.find(({ side }) => SIDES_OF_KIND[kind].some((own) => own === side))?.box : undefined;

/** Of probabilities, 0..1. */
const geometricMean = (scores: readonly number[]): number =>
  Math.exp(scores.reduce((sum, score) => sum + Math.log(score), 0) / scores.length);
