/** A caption graph of a few words, and the statements that `describeLocations` makes of its rows. */
import type { Side } from '../../src/base/images.js';
import { textOf } from '../../src/language/write.js';
import type { CaptionOutput } from '../../src/model/graph-io.js';
import type { MapRegion } from '../../src/model/regions.js';
import type { KnownNames } from '../../src/pipeline/location-statement.js';
import { describeLocations, type RunCaptions } from '../../src/pipeline/statements.js';

const VOCABULARY = [
  ...['<pad>', '<unk>', '<start>', '<end>'],
  ...'a the car van dog has appeared left moved been replaced by and is gone nothing changed to right'.split(' '),
];
export const kinds = ['none', 'appear', 'disappear', 'move', 'replace', 'multi'];
export const manifest = { vocabulary: VOCABULARY, special: { pad: 0, unk: 1, start: 2, end: 3 }, kinds };
export const region = (side: Side, x: number): MapRegion => ({
  side,
  box: { x, y: 0.2, width: 0.1, height: 0.1 },
  area: 0.01,
  score: 0.7,
});
export interface Crop {
  readonly crop: MapRegion['box'];
  readonly regions: readonly MapRegion[];
  /** the words of a caption graph that sees this crop alone */
  readonly says: string;
}
export const crop = (says: string, first: MapRegion, ...others: MapRegion[]): Crop => ({
  crop: { ...first.box, y: 0.1 },
  regions: [first, ...others],
  says,
});

/** Row t of its attention is [t]. */
export function outputOf(text: string): CaptionOutput {
  const words = text === '' ? [] : text.split(' ');
  return {
    ids: BigInt64Array.from(words, (word) => BigInt(VOCABULARY.indexOf(word))),
    logProbabilities: Float32Array.from(words, () => Math.log(0.9)),
    length: words.length,
    attention: words.map((_, t) => Float32Array.of(t)),
    kindLogits: null,
  };
}

/** The words of a row that ends after `count` clauses, with the "and" before the next one. */
function firstClauses(text: string, count: number): string {
  const clauses = text.split(' and ');
  return count === 0 ? '' : clauses.slice(0, count).join(' and ') + (clauses.length > count ? ' and' : '');
}

export interface Graph {
  /** its words if it sees the strongest crops together */
  readonly inOne?: string;
  /** whether its rows end after the clauses that are asked for */
  readonly ending?: boolean;
  /** its words if it sees two crops that only one frame shows */
  readonly ends?: string | ((set: readonly Crop[]) => string);
  readonly most?: number;
  readonly names?: KnownNames<Crop>;
}

/** The statements, and the sets of crops of each run of the caption graph. */
export async function describeWith(crops: readonly Crop[], graph: Graph = {}) {
  const { inOne = 'a dog', ends = 'a dog', most = 3, names, ending = false } = graph;
  const runs: (readonly (readonly Crop[])[])[] = [];
  const strongest = crops.slice(0, most);
  const saysOf = (set: readonly Crop[]) => {
    if (set.length === strongest.length && set.every((one, i) => one === strongest[i])) return inOne;
    return set.length === 1 ? (set[0]?.says ?? '') : typeof ends === 'string' ? ends : ends(set);
  };
  const run: RunCaptions<Crop> = async (sets, clauses) => {
    runs.push(sets);
    return sets.map((set, i) => outputOf(ending ? firstClauses(saysOf(set), clauses[i] as number) : saysOf(set)));
  };
  const described = await describeLocations(crops, strongest, run, manifest, names);
  const { statements, ends: candidates, joint } = described;
  const stated = statements.map(({ words, statement, regions }) => ({
    text: textOf(words),
    kind: statement.kind,
    regions,
  }));
  return { statements, stated, runs, ends: candidates, written: joint.length };
}
