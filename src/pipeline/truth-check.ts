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
import type { CheckManifest } from '../model/check-schema.js';
import { readSentence } from '../model/check-words.js';
import type { CheckOutput } from '../model/graph-io.js';
import type { MapRegion, RegionCrop } from '../model/regions.js';
import type { SentenceFacts } from '../schemas/check.js';
import type { Statement } from '../schemas/statement.js';

/** A clause of the sentence, and the regions that it is about. */
export interface ClauseText {
  readonly text: string;
  readonly regions: readonly MapRegion[];
}
type LocationCrop = Pick<RegionCrop, 'regions'>;
/** Runs the graph on some crops of the pair: sentences as words -> one output per sentence. */
export type RunCheck<C> = (
  crops: readonly C[],
  sentences: readonly (readonly string[])[],
) => Promise<readonly CheckOutput[]>;

/** The check of one pair. Each clause is judged once. */
export class TruthCheck<C extends LocationCrop> {
  readonly #check: CheckManifest;
  readonly #crops: readonly C[];
  readonly #glanced: number;
  readonly #run: RunCheck<C>;
  /** by the crops that were seen, and the text */
  readonly #judged = new Map<string, Judged>();

  /**
   * @param crops the strongest first
   * @param glanced number of crops that one run takes
   */
  constructor(check: CheckManifest, crops: readonly C[], glanced: number, run: RunCheck<C>) {
    this.#check = check;
    this.#crops = crops;
    this.#glanced = glanced;
    this.#run = run;
  }

  /** One run for all clauses about the strongest crops, and one more per clause about another crop. */
  async judge(clauses: readonly ClauseText[]): Promise<Judged[]> {
    const groups = new Map<string, { readonly seen: readonly C[]; readonly texts: Set<string> }>();
    const keys = clauses.map((clause) => {
      const seen = cropsFor(clause, this.#crops, this.#glanced);
      const group = seen.map((crop) => this.#crops.indexOf(crop)).join();
      const key = `${group} ${clause.text}`;
      if (!this.#judged.has(key)) {
        const members = groups.get(group) ?? { seen, texts: new Set() };
        groups.set(group, { seen, texts: members.texts.add(clause.text) });
      }
      return key;
    });
    await Promise.all([...groups].map(([group, { seen, texts }]) => this.#judgeAtOnce(group, seen, [...texts])));
    return keys.map((key) => this.#judged.get(key) as Judged);
  }

  async #judgeAtOnce(group: string, seen: readonly C[], texts: readonly string[]): Promise<void> {
    const sentences = texts.map((text) => readSentence(text, this.#check).words);
    const outputs = await this.#run(seen, sentences);
    for (const [i, text] of texts.entries()) {
      this.#judged.set(`${group} ${text}`, judge(sentences[i] ?? [], outputs[i] as CheckOutput, this.#check));
    }
  }
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
export function judge(words: readonly string[], output: CheckOutput, check: CheckManifest): Judged {
  const { scale, offset } = check.sentence;
  const stated = statedSlots(words);
  const probabilityOf = (slot: Slot): number | null => {
    const level = check.calibration[slot];
    return stated.has(slot)
      ? sigmoid(level.scale * (output.slots[SLOTS.indexOf(slot)] as number) + level.offset)
      : null;
  };
  return {
    p: sigmoid(scale * output.score + offset),
    facts: {
      action: probabilityOf('action'),
      noun: probabilityOf('noun'),
      colour: probabilityOf('colour'),
      place: probabilityOf('place'),
      count: probabilityOf('count'),
    },
  };
}

/** The parts that a sentence states; that nothing has changed is an action without a thing. */
function statedSlots(words: readonly string[]): ReadonlySet<Slot> {
  if (words.length === 0) return new Set();
  const text = words.join(' ');
  if (deniesChange(text)) return new Set(['action']);
  const statements = readClauses(words).map(({ statement }) => statement);
  const { named, coloured, placed, counted } = statements.includes(null)
    ? partsOfText(text)
    : partsOfStatements(statements as readonly Statement[]);
  const stated: readonly (readonly [Slot, boolean])[] = [
    ['action', true],
    ['noun', named],
    ['colour', coloured],
    ['place', placed],
    ['count', named || counted],
  ];
  return new Set(stated.filter(([, is]) => is).map(([slot]) => slot));
}

function partsOfStatements(statements: readonly Statement[]) {
  const things = statements.flatMap((statement) => statement.things);
  return {
    named: things.some(({ noun }) => noun !== SOMETHING),
    coloured: things.some(({ colour, parts = [] }) => colour !== null || parts.length > 0),
    placed: statements.some(({ place, way }) => place !== null || way !== null),
    counted: things.some(({ count }) => count !== 1),
  };
}

/** The parts of a sentence of people, such as a question. */
function partsOfText(text: string) {
  const phrases = nounPhrases(text);
  return {
    named: phrases.length > 0,
    coloured: phrases.some(({ colours }) => colours.length > 0),
    placed: readPlaces(text).length > 0,
    counted: phrases.some(({ plural }) => plural),
  };
}
