/** The report of one evaluation as one JSON value. table.ts prints it; README.md defines every figure. */
import { readCaption } from '../../src/language/people/captions.js';
import { type Alarms, alarms, type Separation, separation } from './alarms.js';
import type { Signal } from './baselines.js';
import { bestByFacts, bestByWords } from './constants.js';
import { type Facts, type FalseClauses, facts, falseClauses, type Statement } from './facts.js';
import type { Pair } from './pairs.js';
import { type Pointing, pointing } from './pointing.js';
import type { Prediction } from './predictions.js';
import type { Retrieval } from './retrieval.js';
import type { Proportion } from './statistics.js';
import { type SwappedFigures, swappedFigures } from './swapped.js';
import { type DocumentFrequencies, documentFrequencies } from './words/cider.js';
import { toSegment, type WordScores, wordScores } from './words/scores.js';

/** Figures of sentences: of a captioner, of the references, or of a constant sentence. */
export interface SentenceFigures {
  readonly name: string;
  readonly note?: string;
  readonly words: { readonly all: WordScores | null; readonly changed: WordScores | null };
  readonly facts: Facts;
  readonly falseClauses: FalseClauses;
}

/** Figures of sentences, alarms and maps. */
export interface CaptionerFigures extends SentenceFigures {
  readonly alarms: Alarms;
  readonly place: Pointing;
  /** mean milliseconds per stage, over the pairs that have the stage */
  readonly timings: Readonly<Record<string, number>>;
}

/** Figures of a method without sentences. */
export interface DetectorFigures {
  readonly name: string;
  readonly separation: Separation;
  readonly game: Proportion;
}

/** Figures of a part of the pairs. */
interface PartFigures {
  readonly by: 'kind' | 'nuisance' | 'view';
  readonly name: string;
  readonly pairs: number;
  readonly words: WordScores | null;
  readonly facts: Facts;
  readonly place: Pointing;
  readonly verdict: Proportion;
}

/** Figures with one nuisance made on every after frame; the captioner is the first row. */
export interface NuisanceResult {
  readonly nuisance: string;
  readonly rows: readonly DetectorFigures[];
}

export interface Report {
  readonly format: 'scenedelta-evaluation/1';
  readonly pairs: { readonly all: number; readonly changed: number; readonly unchanged: number };
  readonly captioner: CaptionerFigures;
  readonly parts: readonly PartFigures[];
  /** the references: facts of each, words of the first of a pair against the others */
  readonly people: SentenceFigures;
  /**
   * the best constant sentence by its words on all pairs, and by its facts on the changed ones (null if none changed)
   */
  readonly constant: SentenceFigures;
  readonly constantOfChanged: SentenceFigures | null;
  readonly baselines: readonly CaptionerFigures[];
  readonly detectors: readonly DetectorFigures[];
  /** empty unless `--nuisance` asks for some */
  readonly nuisances: readonly NuisanceResult[];
  /** null unless `--swapped` asks for it */
  readonly swapped: SwappedFigures | null;
  /** null without a changed pair */
  readonly retrieval: Retrieval | null;
}

/** Predictions and signals are in the order of the pairs, one per pair. */
export interface Run {
  readonly name: string;
  readonly predictions: readonly Prediction[];
}
export interface DetectorRun {
  readonly name: string;
  readonly signals: readonly Signal[];
}

/** @param pairs normalised */
export function evaluate(
  pairs: readonly Pair[],
  run: Run,
  others: {
    readonly baselines?: readonly Run[];
    readonly detectors?: readonly DetectorRun[];
    readonly nuisances?: readonly NuisanceResult[];
    /** answers to the pairs with swapped frames */
    readonly swapped?: readonly Prediction[];
    readonly retrieval?: Retrieval | null;
  } = {},
): Report {
  const frequencies = documentFrequencies(pairs.map((pair) => toSegment('', pair.references).references));
  return {
    format: 'scenedelta-evaluation/1',
    pairs: {
      all: pairs.length,
      changed: pairs.filter((pair) => pair.changed === true).length,
      unchanged: pairs.filter((pair) => pair.changed === false).length,
    },
    captioner: captionerFigures(pairs, run, frequencies),
    parts: parts(pairs, run, frequencies),
    people: people(pairs, frequencies),
    constant: constantOfAll(pairs, frequencies),
    constantOfChanged: constantOfChanged(pairs, run, frequencies),
    baselines: (others.baselines ?? []).map((baseline) => captionerFigures(pairs, baseline, frequencies)),
    detectors: (others.detectors ?? []).map((detector) => detectorFigures(pairs, detector)),
    nuisances: others.nuisances ?? [],
    swapped: others.swapped === undefined ? null : swappedFigures(pairs, run.predictions, others.swapped),
    retrieval: others.retrieval ?? null,
  };
}

/** @param pairs with the boxes of their after frames moved as the nuisance moved the frames */
export function nuisanceResult(
  nuisance: string,
  pairs: readonly Pair[],
  { name, predictions }: Run,
  detectors: readonly DetectorRun[],
): NuisanceResult {
  const captioner = {
    name,
    separation: separation(
      pairs,
      predictions.map(({ confidence }) => confidence),
    ),
    game: pointing(pairs, predictions).game,
  };
  return { nuisance, rows: [captioner, ...detectors.map((detector) => detectorFigures(pairs, detector))] };
}

const captionerFigures = (
  pairs: readonly Pair[],
  { name, predictions }: Run,
  frequencies: DocumentFrequencies,
): CaptionerFigures => ({
  ...sentenceFigures(name, pairs, predictions, frequencies),
  alarms: alarms(pairs, predictions),
  place: pointing(pairs, predictions),
  timings: meanTimings(predictions),
});

function detectorFigures(pairs: readonly Pair[], { name, signals }: DetectorRun): DetectorFigures {
  const scores = signals.map(({ score }) => score);
  const maps = signals.map(({ peaks }) => ({ regions: [], peak_before: peaks.before, peak_after: peaks.after }));
  return { name, separation: separation(pairs, scores), game: pointing(pairs, maps).game };
}

const sentenceFigures = (
  name: string,
  pairs: readonly Pair[],
  statements: readonly Statement[],
  frequencies: DocumentFrequencies,
): SentenceFigures => ({
  name,
  words: wordsOf(pairs, (pair, i) => toSegment(statements[i]?.caption ?? '', pair.references), frequencies),
  facts: facts(pairs, statements),
  falseClauses: falseClauses(pairs, statements),
});

/** Word metrics of all pairs and of the changed ones. */
function wordsOf(
  pairs: readonly Pair[],
  segmentOf: (pair: Pair, index: number) => ReturnType<typeof toSegment>,
  frequencies: DocumentFrequencies,
): SentenceFigures['words'] {
  const segments = pairs.map(segmentOf);
  const changed = segments.filter((_, i) => pairs[i]?.changed === true);
  return { all: wordScores(segments, frequencies), changed: wordScores(changed, frequencies) };
}

/** Words are those of the pairs that have several references. */
function people(pairs: readonly Pair[], frequencies: DocumentFrequencies): SentenceFigures {
  const each = pairs.flatMap((pair) => pair.references.map((caption) => ({ pair, caption })));
  const labelled = each.map(({ pair }) => pair);
  const statements = each.map(({ caption }) => ({ caption, kind: null }));
  return {
    name: 'people',
    note: 'the references themselves; words: the first against the others',
    words: wordsOf(
      pairs.filter((pair) => pair.references.length > 1),
      ({ references: [first = '', ...others] }) => toSegment(first, others),
      frequencies,
    ),
    facts: facts(labelled, statements),
    falseClauses: falseClauses(labelled, statements),
  };
}

function constantOfAll(pairs: readonly Pair[], frequencies: DocumentFrequencies): SentenceFigures {
  const caption = bestByWords(pairs);
  const kind = readCaption(caption).mentions[0]?.direction ?? 'none';
  const note = `always "${caption}", the best reference of this set by CIDEr-D`;
  const statements = pairs.map(() => ({ caption, kind }));
  return { ...sentenceFigures('constant', pairs, statements, frequencies), note };
}

function constantOfChanged(
  pairs: readonly Pair[],
  { predictions }: Run,
  frequencies: DocumentFrequencies,
): SentenceFigures | null {
  const captions = predictions.map(({ caption }) => caption);
  const best = bestByFacts(pairs, captions);
  if (best === null) return null;
  const note =
    `always "${best.caption}" and kind ${best.kind}: ` +
    'of references and answers the best on the changed pairs, by noun, colour and place';
  const statements = pairs.map(() => best);
  return { ...sentenceFigures('constant 2', pairs, statements, frequencies), note };
}

/** Parts by kind of change, by labelled nuisance, and by the overlap of the views if the pairs state it. */
function parts(pairs: readonly Pair[], run: Run, frequencies: DocumentFrequencies): PartFigures[] {
  const part = (by: PartFigures['by'], name: string, inside: (pair: Pair) => boolean): PartFigures => {
    const chosen = pairs.flatMap((pair, i) => {
      const prediction = run.predictions[i];
      return prediction !== undefined && inside(pair) ? [{ pair, prediction }] : [];
    });
    const [some, predictions] = [chosen.map((c) => c.pair), chosen.map((c) => c.prediction)];
    const segments = chosen.map((c) => toSegment(c.prediction.caption, c.pair.references));
    return {
      by,
      name,
      pairs: some.length,
      words: wordScores(segments, frequencies),
      facts: facts(some, predictions),
      place: pointing(some, predictions),
      verdict: alarms(some, predictions).verdict,
    };
  };
  const kinds = distinct(pairs.map((pair) => pair.kind));
  const nuisances = distinct(pairs.flatMap((pair) => pair.nuisances));
  const overlaps = pairs.flatMap((pair) => pair.viewOverlap ?? []).sort((a, b) => a - b);
  // The split of DUDA: the quarter of the pairs whose objects overlap least between the views is the hardest.
  const hard = overlaps[Math.floor(overlaps.length / 4)];
  return [
    ...kinds.map((kind) => part('kind', kind, (pair) => pair.kind === kind)),
    ...(nuisances.length > 1 ? nuisances.map((n) => part('nuisance', n, (pair) => pair.nuisances.includes(n))) : []),
    ...(hard === undefined
      ? []
      : [
          part('view', `overlap < ${hard.toFixed(2)}`, (pair) => (pair.viewOverlap ?? 1) < hard),
          part('view', `overlap >= ${hard.toFixed(2)}`, (pair) => (pair.viewOverlap ?? 0) >= hard),
        ]),
  ];
}

const distinct = (values: readonly (string | null)[]): string[] => [
  ...new Set(values.filter((value) => value !== null)),
];

function meanTimings(predictions: readonly Prediction[]): Record<string, number> {
  const sums = new Map<string, { total: number; count: number }>();
  for (const { timings_ms } of predictions) {
    for (const [stage, ms] of Object.entries(timings_ms)) {
      const sum = sums.get(stage) ?? { total: 0, count: 0 };
      sums.set(stage, { total: sum.total + ms, count: sum.count + 1 });
    }
  }
  return Object.fromEntries([...sums].map(([stage, { total, count }]) => [stage, total / count]));
}
