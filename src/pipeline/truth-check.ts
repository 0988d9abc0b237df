/**
 * The truth check of a change: probabilities of the clauses of its sentence and of their words, from the bundle's graph
 * `check`. It sees the frames, not what the captioner made of them, so a low probability warns of a wrong word.
 */
import { sigmoid } from '../base/logistic.js';
import { nounPhrases } from '../language/people/noun-phrases.js';
import { readPlaces } from '../language/people/places.js';
import { deniesChange } from '../language/plain.js';
import { readClauses } from '../language/read-clauses.js';
import { SOMETHING } from '../language/thing.js';
import { SLOTS, type Slot } from '../model/bundle.js';
import type { Prediction } from '../model/calibration.js';
import type { CheckManifest } from '../model/check-schema.js';
import { readSentence } from '../model/check-words.js';
import type { CheckOutput } from '../model/graph-io.js';
import type { BundleManifest } from '../model/manifest.js';
import type { MapRegion, RegionCrop } from '../model/regions.js';
import type { Check, SentenceFacts } from '../schemas/check.js';
import type { Statement } from '../schemas/statement.js';
import type { Description } from './location-statement.js';
import { type ChangeSentence, type ClauseText, composeSentence } from './sentence.js';

type LocationCrop = Pick<RegionCrop, 'regions'>;
/** Runs the graph on some crops of the pair: sentences as words -> one output per sentence. */
export type RunCheck<C> = (
  crops: readonly C[],
  sentences: readonly (readonly string[])[],
) => Promise<readonly CheckOutput[]>;

/**
 * The sentence of a change with the truth check of each of its clauses, which warns and decides nothing.
 * @param crops of the locations, the strongest first
 * @param regions of the answer, the strongest first
 * @param run the graph `check`; is not called of a bundle without one
 * @returns `check` is absent of a bundle without a truth check
 */
export async function composeChecked<C extends LocationCrop>(
  description: Description,
  kind: Prediction['kind'],
  { crops, regions }: { readonly crops: readonly C[]; readonly regions: readonly MapRegion[] },
  manifest: BundleManifest,
  run: RunCheck<C>,
): Promise<{ readonly captioned: ChangeSentence; readonly check?: Check }> {
  const captioned = composeSentence(description, kind, regions, manifest);
  const { check, glance } = manifest;
  if (check === undefined || glance === null) return { captioned };
  const judged = await judgeClauses(captioned.clauses, crops, glance.regions, check, run);
  const clauses = captioned.clauses.map(({ text, regions: shown }, i) => ({
    ...{ text, ...(judged[i] as Judged) },
    regions: shown.map((region) => regions.indexOf(region) + 1),
  }));
  return { captioned, check: { score: clauses.length === 0 ? null : Math.min(...clauses.map(({ p }) => p)), clauses } };
}

/**
 * One run for all clauses about the strongest crops, and one per other choice of crops.
 * @param crops the strongest first
 * @param glanced number of crops that one run takes
 */
export async function judgeClauses<C extends LocationCrop>(
  clauses: readonly ClauseText[],
  crops: readonly C[],
  glanced: number,
  check: CheckManifest,
  run: RunCheck<C>,
): Promise<Judged[]> {
  const seen = clauses.map((clause) => cropsFor(clause, crops, glanced));
  const keys = seen.map((shown) => shown.map((crop) => crops.indexOf(crop)).join());
  const judged: Judged[] = [];
  const judgeAt = async (first: number): Promise<void> => {
    const members = [...clauses.keys()].filter((i) => keys[i] === keys[first]);
    const sentences = members.map((i) => readSentence((clauses[i] as ClauseText).text, check).words);
    const outputs = await run(seen[first] as C[], sentences);
    for (const [at, i] of members.entries()) {
      judged[i] = judge(sentences[at] as string[], outputs[at] as CheckOutput, check);
    }
  };
  await Promise.all([...new Set(keys)].map((key) => judgeAt(keys.indexOf(key))));
  return judged;
}

/**
 * @param glanced number of crops that one run takes
 * @returns the strongest crops if those of the clause are among them; else those of the clause before the strongest
 */
function cropsFor<C extends LocationCrop>({ regions }: ClauseText, crops: readonly C[], glanced: number): C[] {
  const strongest = crops.slice(0, glanced);
  const about = crops.filter((crop) => crop.regions.some((region) => regions.includes(region)));
  return about.every((crop) => strongest.includes(crop))
    ? strongest
    : [...new Set([...about, ...strongest])].slice(0, glanced);
}

export interface Judged {
  /** probability that the sentence is true, 0..1 */
  readonly p: number;
  readonly facts: SentenceFacts;
}

/** @param words of the sentence, as `readSentence` returns them */
export function judge(words: readonly string[], { score, slots }: CheckOutput, check: CheckManifest): Judged {
  const { scale, offset } = check.sentence;
  const stated = statedSlots(words);
  const facts = SLOTS.map((slot, i) => {
    const level = check.calibration[slot];
    return [slot, stated[slot] ? sigmoid(level.scale * (slots[i] as number) + level.offset) : null];
  });
  return { p: sigmoid(scale * score + offset), facts: Object.fromEntries(facts) };
}

/** The parts that a sentence states; that nothing has changed is an action without a thing. */
function statedSlots(words: readonly string[]): Readonly<Partial<Record<Slot, boolean>>> {
  if (words.length === 0) return {};
  const text = words.join(' ');
  if (deniesChange(text)) return { action: true };
  const statements = readClauses(words).map(({ statement }) => statement);
  const parts = statements.includes(null) ? partsOfText(text) : partsOfStatements(statements as readonly Statement[]);
  return { action: true, ...parts, count: parts.noun || parts.count };
}

function partsOfStatements(statements: readonly Statement[]) {
  const things = statements.flatMap((statement) => statement.things);
  return {
    noun: things.some(({ noun }) => noun !== SOMETHING),
    colour: things.some(({ colour, parts = [] }) => colour !== null || parts.length > 0),
    place: statements.some(({ place, way }) => place !== null || way !== null),
    count: things.some(({ count }) => count !== 1),
  };
}

/** The parts of a sentence of people, such as a question. */
function partsOfText(text: string) {
  const phrases = nounPhrases(text);
  return {
    noun: phrases.length > 0,
    colour: phrases.some(({ colours }) => colours.length > 0),
    place: readPlaces(text).length > 0,
    count: phrases.some(({ plural }) => plural),
  };
}
