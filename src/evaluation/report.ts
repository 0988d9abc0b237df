/** Everything that is measured on one set of pairs, as one JSON value. table.ts prints it; README.md beside this defines it. */
import { type Alarms, alarms, type Separation, separation } from './alarms.js';
import type { Signal } from './baselines.js';
import { readCaption } from './captions.js';
import { bestByFacts, bestByWords } from './constants.js';
import { type Facts, facts, type Statement } from './facts.js';
import type { Pair } from './pairs.js';
import { type Pointing, pointing } from './pointing.js';
import type { Prediction } from './predictions.js';
import type { Proportion } from './statistics.js';
import type { Segment } from './words/bleu.js';
import { type DocumentFrequencies, documentFrequencies } from './words/cider.js';
import { toSegment, type WordScores, wordScores } from './words/scores.js';

/** The sentences of one method. */
export interface Speaker {
  readonly name: string;
  readonly note?: string;
  readonly words: { readonly all: WordScores | null; readonly changed: WordScores | null };
  readonly facts: Facts;
}

/** A captioner: sentences, alarms and maps. */
export interface Captioner extends Speaker {
  readonly alarms: Alarms;
  readonly place: Pointing;
  /** mean milliseconds a stage, of the pairs that took it */
  readonly timings: Readonly<Record<string, number>>;
}

/** A method without words. */
export interface Detector {
  readonly name: string;
  readonly separation: Separation;
  readonly game: Proportion;
}

/** The figures of a part of the pairs. */
export interface Part {
  readonly by: 'kind' | 'nuisance' | 'view';
  readonly name: string;
  readonly pairs: number;
  readonly words: WordScores | null;
  readonly facts: Facts;
  readonly place: Pointing;
  readonly verdict: Proportion;
}

export interface Report {
  readonly format: 'scenedelta-evaluation/1';
  readonly pairs: { readonly all: number; readonly changed: number; readonly unchanged: number };
  readonly captioner: Captioner;
  readonly parts: readonly Part[];
  /** each person's sentences judged as the captioner's; their words against the other references */
  readonly people: Speaker;
  /** the best of all constant sentences by its words on all pairs, and by its facts on the changed ones (null: there are none) */
  readonly constant: Speaker;
  readonly constantOfChanged: Speaker | null;
  readonly baselines: readonly Captioner[];
  readonly detectors: readonly Detector[];
  /** empty unless asked for */
  readonly nuisances: readonly NuisanceResult[];
}

/** How well pairs are told apart with one nuisance made on every after frame. */
export interface NuisanceResult {
  readonly nuisance: string;
  readonly rows: readonly {
    readonly name: string;
    readonly separation: Separation;
    readonly game: Proportion;
  }[];
}

export interface Run {
  readonly name: string;
  /** one a pair, in the order of the pairs */
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
  } = {},
): Report {
  const references = pairs.map((pair) => toSegment('', pair.references).references);
  const frequencies = documentFrequencies(references);
  const captioner = (r: Run) => measure(pairs, r, frequencies);
  return {
    format: 'scenedelta-evaluation/1',
    pairs: {
      all: pairs.length,
      changed: pairs.filter((pair) => pair.changed === true).length,
      unchanged: pairs.filter((pair) => pair.changed === false).length,
    },
    captioner: captioner(run),
    parts: parts(pairs, run, frequencies),
    people: people(pairs, frequencies),
    constant: constantOfAll(pairs, frequencies),
    constantOfChanged: constantOfChanged(pairs, run, frequencies),
    baselines: (others.baselines ?? []).map(captioner),
    detectors: (others.detectors ?? []).map((detector) => detect(pairs, detector)),
    nuisances: others.nuisances ?? [],
  };
}

function measure(
  pairs: readonly Pair[],
  { name, predictions }: Run,
  frequencies: DocumentFrequencies,
): Captioner {
  return {
    ...speak(name, pairs, predictions, frequencies),
    alarms: alarms(pairs, predictions),
    place: pointing(pairs, predictions),
    timings: meanTimings(predictions),
  };
}

function speak(
  name: string,
  pairs: readonly Pair[],
  statements: readonly Statement[],
  frequencies: DocumentFrequencies,
): Speaker {
  const segments = pairs.map((pair, i) => toSegment(statements[i]?.caption ?? '', pair.references));
  return {
    name,
    words: {
      all: wordScores(segments, frequencies),
      changed: wordScores(
        segments.filter((_, i) => pairs[i]?.changed === true),
        frequencies,
      ),
    },
    facts: facts(pairs, statements),
  };
}

/** Facts of every reference; words of each pair's first reference against its others, where it has any. */
function people(pairs: readonly Pair[], frequencies: DocumentFrequencies): Speaker {
  const all = pairs.flatMap((pair) => pair.references.map((caption) => ({ pair, caption })));
  const several = pairs.filter((pair) => pair.references.length > 1);
  const segment = ({ references: [first = '', ...rest] }: Pair): Segment => toSegment(first, rest);
  return {
    name: 'people',
    note: 'the references themselves; words: the first against the others',
    words: {
      all: wordScores(several.map(segment), frequencies),
      changed: wordScores(several.filter((pair) => pair.changed === true).map(segment), frequencies),
    },
    facts: facts(
      all.map(({ pair }) => pair),
      all.map(({ caption }) => ({ caption, kind: null })),
    ),
  };
}

function constantOfAll(pairs: readonly Pair[], frequencies: DocumentFrequencies): Speaker {
  const caption = bestByWords(pairs);
  const [mention] = readCaption(caption).mentions;
  const kind = mention === undefined ? 'none' : mention.direction;
  const said = speak(
    'constant',
    pairs,
    pairs.map(() => ({ caption, kind })),
    frequencies,
  );
  return { ...said, note: `always "${caption}", the best reference of this set by CIDEr-D` };
}

function constantOfChanged(
  pairs: readonly Pair[],
  { predictions }: Run,
  frequencies: DocumentFrequencies,
): Speaker | null {
  const best = bestByFacts(
    pairs,
    predictions.map(({ caption }) => caption),
  );
  if (best === null) return null;
  const said = speak(
    'constant 2',
    pairs,
    pairs.map(() => best),
    frequencies,
  );
  return {
    ...said,
    note: `always "${best.caption}" and kind ${best.kind}: of references and answers the best on the changed pairs, by noun, colour and place`,
  };
}

/** @param pairs with the boxes of their after frames moved as the nuisance moved the picture */
export function nuisanceResult(
  nuisance: string,
  pairs: readonly Pair[],
  run: Run,
  detectors: readonly DetectorRun[],
): NuisanceResult {
  const scores = run.predictions.map(({ confidence }) => confidence);
  const captioner = {
    name: run.name,
    separation: separation(pairs, scores),
    game: pointing(pairs, run.predictions).game,
  };
  return { nuisance, rows: [captioner, ...detectors.map((detector) => detect(pairs, detector))] };
}

function detect(pairs: readonly Pair[], { name, signals }: DetectorRun): Detector {
  const seen = signals.map(({ peaks }) => ({
    regions: [],
    peak_before: peaks.before,
    peak_after: peaks.after,
  }));
  return {
    name,
    separation: separation(
      pairs,
      signals.map(({ score }) => score),
    ),
    game: pointing(pairs, seen).game,
  };
}

/** By kind of change, by what the manifest names as nuisance, and by how far the camera moved where it tells. */
function parts(pairs: readonly Pair[], run: Run, frequencies: DocumentFrequencies): Part[] {
  const part = (by: Part['by'], name: string, inside: (pair: Pair) => boolean): Part => {
    const chosen = pairs.flatMap((pair, i) => {
      const prediction = run.predictions[i];
      return prediction !== undefined && inside(pair) ? [{ pair, prediction }] : [];
    });
    const [some, theirs] = [chosen.map((c) => c.pair), chosen.map((c) => c.prediction)];
    return {
      by,
      name,
      pairs: some.length,
      words: speak('', some, theirs, frequencies).words.all,
      facts: facts(some, theirs),
      place: pointing(some, theirs),
      verdict: alarms(some, theirs).verdict,
    };
  };
  const kinds = distinct(pairs.map((pair) => pair.kind));
  const nuisances = distinct(pairs.flatMap((pair) => pair.nuisances));
  const overlaps = pairs.flatMap((pair) => pair.viewOverlap ?? []).sort((a, b) => a - b);
  // DUDA's split: the quarter of pairs with the least overlap of objects between the views is the hardest.
  const hard = overlaps[Math.floor(overlaps.length / 4)];
  return [
    ...kinds.map((kind) => part('kind', kind, (pair) => pair.kind === kind)),
    ...(nuisances.length > 1
      ? nuisances.map((n) => part('nuisance', n, (pair) => pair.nuisances.includes(n)))
      : []),
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
