/**
 * METEOR 1.5 (Denkowski & Lavie, WMT 2014) with its parameters for English and its first two kinds of match, the same word and
 * the same stem. Its other two need WordNet and a paraphrase table of 60 MB: without them scores are a little lower than
 * pycocoevalcap's default and equal those of its METEOR run with `-m "exact stem"`.
 */
import type { Segment } from './bleu.js';
import { stem } from './stem.js';

// Parameters tuned on rankings of translations by people: balance of precision and recall, form and weight of the
// fragmentation penalty, content against function words, and the weights of the two kinds of match.
const ALPHA = 0.85;
const BETA = 0.2;
const GAMMA = 0.6;
const DELTA = 0.75;
const WEIGHTS = { exact: 1, stem: 0.6 } as const;
const BEAM = 40;

/** Words as frequent in English text as one in a thousand, as METEOR 1.5 counts them. */
const FUNCTION_WORDS = new Set(
  `the of to and a in that for is on 's it with was as said at he by be from have has are his but an this not i will they
   -rrb- -lrb- who their had we which were been more or s its would about new one after you also up when there than all out
   her people she year two can if last first over other into some what so no time years could 't`.split(
    /\s+/,
  ),
);

/** What adds up over segments. Matches are weighted by their kind. */
interface Counts {
  candidateContent: number;
  candidateFunction: number;
  referenceContent: number;
  referenceFunction: number;
  matchedCandidateContent: number;
  matchedCandidateFunction: number;
  matchedReferenceContent: number;
  matchedReferenceFunction: number;
  /** pairs of matched words, unweighted */
  matches: number;
  /** runs of matches that are adjacent and in the same order in both; 0 for a reference repeated word by word */
  chunks: number;
}

/** Score of the whole set, 0..1: of the sums over all segments, each with the reference that fits it best. */
export function meteor(segments: readonly Segment[]): number {
  const total = emptyCounts();
  for (const { candidate, references } of segments) {
    let best = emptyCounts();
    let bestScore = -1;
    for (const reference of references) {
      const counts = compare(candidate, reference);
      const score = scoreOf(counts);
      if (score > bestScore) {
        best = counts;
        bestScore = score;
      }
    }
    for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += best[key];
  }
  return scoreOf(total);
}

const emptyCounts = (): Counts => ({
  candidateContent: 0,
  candidateFunction: 0,
  referenceContent: 0,
  referenceFunction: 0,
  matchedCandidateContent: 0,
  matchedCandidateFunction: 0,
  matchedReferenceContent: 0,
  matchedReferenceFunction: 0,
  matches: 0,
  chunks: 0,
});

const weigh = (content: number, functional: number): number => DELTA * content + (1 - DELTA) * functional;

function scoreOf(c: Counts): number {
  const precision =
    weigh(c.matchedCandidateContent, c.matchedCandidateFunction) /
    weigh(c.candidateContent, c.candidateFunction);
  const recall =
    weigh(c.matchedReferenceContent, c.matchedReferenceFunction) /
    weigh(c.referenceContent, c.referenceFunction);
  if (!(precision > 0 && recall > 0)) return 0;
  const mean = (precision * recall) / (ALPHA * precision + (1 - ALPHA) * recall);
  return mean * (1 - GAMMA * (c.chunks / c.matches) ** BETA);
}

function compare(candidate: readonly string[], reference: readonly string[]): Counts {
  const counts = emptyCounts();
  for (const word of candidate)
    counts[FUNCTION_WORDS.has(word) ? 'candidateFunction' : 'candidateContent'] += 1;
  for (const word of reference)
    counts[FUNCTION_WORDS.has(word) ? 'referenceFunction' : 'referenceContent'] += 1;
  const links = align(candidate, reference);
  for (const { from, to, weight } of links) {
    counts[
      FUNCTION_WORDS.has(candidate[from] ?? '') ? 'matchedCandidateFunction' : 'matchedCandidateContent'
    ] += weight;
    counts[
      FUNCTION_WORDS.has(reference[to] ?? '') ? 'matchedReferenceFunction' : 'matchedReferenceContent'
    ] += weight;
  }
  counts.matches = links.length;
  counts.chunks = countChunks(links);
  const repeated =
    links.length === candidate.length && links.length === reference.length && counts.chunks === 1;
  if (repeated) counts.chunks = 0;
  return counts;
}

interface Link {
  /** index in the candidate */
  readonly from: number;
  /** index in the reference */
  readonly to: number;
  readonly weight: number;
}

/** A way to link the first words of the reference. */
interface Path {
  readonly links: readonly Link[];
  /** indexes of the candidate that are linked, or reserved for a fixed link */
  readonly taken: ReadonlySet<number>;
  /** links between equal words; METEOR adds up whole numbers here, so that a stem's 0.6 counts nothing */
  readonly matches: number;
  /** runs that have ended */
  readonly chunks: number;
  readonly distance: number;
  /** index of the candidate after the link of the word before; -1: that word has none */
  readonly open: number;
}

/**
 * One-to-one. Words that fit each other and no other word are linked first. Of the rest a beam search along the reference
 * takes the links with the most matches, then the fewest chunks, then the least sum of shifts, in METEOR's order of trying, which
 * decides between equals.
 */
function align(candidate: readonly string[], reference: readonly string[]): readonly Link[] {
  const stems = candidate.map(stem);
  const possible: Link[][] = reference.map((word, to) => {
    const wordStem = stem(word);
    return candidate.flatMap((other, from): Link[] => {
      if (word === other) return [{ from, to, weight: WEIGHTS.exact }];
      return wordStem === stems[from] ? [{ from, to, weight: WEIGHTS.stem }] : [];
    });
  });
  const timesPossible = candidate.map(
    (_, from) => possible.flat().filter((link) => link.from === from).length,
  );
  const fixed = possible.map((links) =>
    links.length === 1 && timesPossible[links[0]?.from ?? -1] === 1 ? links[0] : undefined,
  );
  const taken = new Set(fixed.flatMap((link) => (link === undefined ? [] : [link.from])));
  let beam: Path[] = [{ links: [], taken, matches: 0, chunks: 0, distance: 0, open: -1 }];
  reference.forEach((_, to) => {
    const next: Path[] = [];
    for (const path of beam) {
      const sure = fixed[to];
      if (sure !== undefined) {
        next.push(follow(path, sure));
        continue;
      }
      for (const link of possible[to] ?? []) if (!path.taken.has(link.from)) next.push(follow(path, link));
      next.push(close(path));
    }
    beam = next.sort(better).slice(0, BEAM);
  });
  return beam.map(close).sort(better)[0]?.links ?? [];
}

const follow = (path: Path, link: Link): Path => ({
  links: [...path.links, link],
  taken: new Set(path.taken).add(link.from),
  matches: path.matches + Math.trunc(link.weight),
  chunks: path.chunks + (path.open === -1 || path.open === link.from ? 0 : 1),
  distance: path.distance + Math.abs(link.from - link.to),
  open: link.from + 1,
});

const close = (path: Path): Path =>
  path.open === -1 ? path : { ...path, chunks: path.chunks + 1, open: -1 };

const better = (a: Path, b: Path): number =>
  b.matches - a.matches || a.chunks - b.chunks || b.links.length - a.links.length || a.distance - b.distance;

const countChunks = (links: readonly Link[]): number =>
  links.filter((link, i) => {
    const last = links[i - 1];
    return last === undefined || last.from + 1 !== link.from || last.to + 1 !== link.to;
  }).length;
