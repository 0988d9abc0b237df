/**
 * Findings of the five outcomes of a comparison. The calibrated change probability decides the verdict, because it
 * alone was tuned against false alarms; kind, caption and regions follow it, so that a finding does not contradict
 * itself:
 * - verdicts none and nuisance have no regions and no caption of a change; the caption graph does not run;
 * - verdict change has a caption that states the kind (sentence.ts);
 * - verdict tamper has nothing else, because the frame of a tampered camera does not show the scene.
 */
import { tamperStatement, unchangedStatement } from '../language/plain.js';
import { asSentence, textOf, write } from '../language/write.js';
import type { Prediction } from '../model/calibration.js';
import type { MapRegion } from '../model/regions.js';
import { type Sentence, toClause, uniformScores } from '../model/tokenizer.js';
import type { Fact, Finding, LocatedStatement, ModelUsed, Region } from '../schemas/comparison.js';
import type { Lost } from '../schemas/loss.js';
import type { Viewpoint } from '../schemas/viewpoint.js';
import { hasMoved, type ViewpointEvidence } from '../viewpoint/evidence.js';
import type { Cover } from '../viewpoint/lens/cover.js';
import { leftObjectOf } from './left-objects.js';
import type { LocationFact, LocationStatement } from './location-statement.js';
import { CERTAINTY } from './lost-parts.js';
import type { ChangeSentence } from './sentence.js';
import type { Tamper } from './tamper-fusion.js';

/** Finding of frames with the same pixels; no model runs. */
export const identicalFinding = (): Finding => ({
  ...unchanged({ change: 0, nuisances: [] }),
  verdict: 'none',
  model: null,
});

/**
 * @param prediction one that is not `changed`, unless by a lost part alone
 * @param sentence of the bundle, if its manifest has one
 * @param lost part of a frame, about which there is no statement
 */
export function unchangedFinding(
  prediction: Prediction,
  model: ModelUsed,
  viewpoint: Viewpoint,
  sentence?: string,
  lost: Lost | null = null,
): Finding {
  if (lost !== null) {
    return { ...unchanged({ ...prediction, nuisances: [] }, 'rest'), verdict: 'none', lost, model, viewpoint };
  }
  const strongest = prediction.nuisances[0]?.name;
  return {
    ...unchanged(prediction, strongest, sentence),
    verdict: strongest === undefined ? 'none' : 'nuisance',
    model,
    viewpoint,
  };
}

/** Finding of a frame whose rest is not judged: too much of it is lost. @param viewpoint absent: not measured */
export const lostFinding = (lost: Lost, viewpoint?: Viewpoint): Finding => ({
  ...tamperedFinding([{ name: lost.reason, score: CERTAINTY }], viewpoint),
  lost,
});

/** Finding of a view that something on the lens covers as a whole. */
export const coveredFinding = (lens: Cover, viewpoint: Viewpoint): Finding => ({
  ...tamperedFinding([{ name: 'covered', score: lens.share }], viewpoint),
  lens,
});

/** @param tampers the most probable first. @throws RangeError if there is none */
export function tamperedFinding(tampers: readonly Tamper[], viewpoint?: Viewpoint): Finding {
  const [strongest] = tampers;
  if (strongest === undefined) throw new RangeError('no tampering came, expected at least one');
  const statement = tamperStatement(strongest.name);
  const sentence = uniformScores(write(statement), strongest.score);
  return {
    verdict: 'tamper',
    kind: 'none',
    nuisance: [],
    tamper: [...tampers],
    ...captionOf(sentence),
    content: { statements: [statement], more: 0 },
    confidence: strongest.score,
    severity: 'high',
    regions: [],
    model: null,
    ...(viewpoint === undefined ? {} : { viewpoint }),
  };
}

/**
 * @param width of `after` as it was sent, in pixels
 * @returns the motion of the camera in pixels of that frame, or the reason why registration refused
 */
export function viewpointOf(evidence: ViewpointEvidence, width: number): Viewpoint {
  const { registration, refusal } = evidence;
  if (registration === null) return { refused: refusal.reason, detail: refusal.detail };
  return {
    moved: hasMoved(evidence),
    shift_px: registration.shift * width,
    rotation_deg: registration.rotationDegrees,
    scale: registration.scale,
    overlap: registration.overlap,
    inliers: registration.inliers,
    residual_px: registration.residual * width,
  };
}

/**
 * @param prediction one that is `changed`
 * @param regions the strongest first
 * @param statements about these regions; undefined if none were asked for
 * @param facts about these regions; undefined if the bundle names nothing
 */
export function changedFinding(
  prediction: Prediction,
  { sentence, kind, content }: Pick<ChangeSentence, 'sentence' | 'kind' | 'content'>,
  regions: readonly MapRegion[],
  model: ModelUsed,
  viewpoint: Viewpoint,
  statements?: readonly LocationStatement[],
  facts?: readonly LocationFact[],
): Finding {
  return {
    verdict: 'change',
    kind: kind.name as Finding['kind'],
    nuisance: [...prediction.nuisances],
    ...captionOf(sentence),
    ...(content === undefined ? {} : { content }),
    confidence: prediction.change,
    severity: 'medium',
    regions: regions.map((region, i): Region => ({ id: i + 1, ...region })),
    ...(statements === undefined ? {} : { statements: statements.map((one) => withIds(one, regions)) }),
    ...(facts === undefined ? {} : { facts: facts.map((one) => factWithIds(one, facts, regions)) }),
    model,
    viewpoint,
  };
}

const idsOf = (shown: readonly MapRegion[], regions: readonly MapRegion[]): number[] =>
  shown.map((region) => regions.indexOf(region) + 1);

function factWithIds(fact: LocationFact, all: readonly LocationFact[], regions: readonly MapRegion[]): Fact {
  const object = leftObjectOf(fact, all);
  const owner = object?.owner ?? null;
  return {
    ...fact,
    nouns: [...fact.nouns],
    colours: [...fact.colours],
    object: object && { ...object, owner: owner && { region: regions.indexOf(owner) + 1, box: owner.box } },
    regions: idsOf(fact.regions, regions),
  };
}

const withIds = (
  { statement, words, regions: shown }: LocationStatement,
  regions: readonly MapRegion[],
): LocatedStatement => ({
  text: write(statement),
  kind: statement.kind,
  content: statement,
  regions: idsOf(shown, regions),
  score: toClause(words).score,
});

/** The words as a sentence, also those of a captioner of its own. */
function captionOf(sentence: Sentence) {
  const words = asSentence(sentence.words);
  return { caption: textOf(words), caption_score: sentence.score, words };
}

/** @param text of the bundle, which has its sentence instead of ours */
function unchanged(prediction: Pick<Prediction, 'change' | 'nuisances'>, nuisance?: string, text?: string) {
  const statement = unchangedStatement(nuisance);
  const sentence = uniformScores(text ?? write(statement), 1 - prediction.change);
  return {
    kind: 'none' as const,
    nuisance: [...prediction.nuisances],
    ...captionOf(sentence),
    ...(text === undefined ? { content: { statements: [statement], more: 0 } } : {}),
    confidence: prediction.change,
    severity: 'info' as const,
    regions: [],
  };
}
