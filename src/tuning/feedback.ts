/**
 * Feedback as samples for tuning: lines of the manifest that `scenedelta feedback` writes, the ones that count, and the
 * ones that are held back to judge what the others teach.
 */
import { type Static, Type } from 'typebox';
import { check, ndjson } from '../evaluation/pairs.js';
import { type Box, SIDES, type Side } from '../images.js';
import { BoxSchema } from '../schemas/box.js';
import { VERDICTS } from '../schemas/comparison.js';
import { literals } from '../schemas/constructors.js';

/** One line; unknown keys are ignored. */
const LineSchema = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 256 }),
  before: Type.String({ minLength: 1 }),
  after: Type.String({ minLength: 1 }),
  references: Type.Array(Type.String({ minLength: 1, maxLength: 2_000 }), { minItems: 1 }),
  verdict: Type.String({ enum: [...VERDICTS] }),
  scene: Type.Optional(Type.String({ maxLength: 256 })),
  caption: Type.Optional(Type.String({ maxLength: 2_000 })),
  /** absent in files of versions before 0.13: `verdict` and `references` are about the change */
  judgement: Type.Optional(literals(['correct', 'false_alarm'])),
  sentence: Type.Optional(Type.String({ maxLength: 2_000 })),
  regions: Type.Optional(Type.Array(Type.Object({ side: literals(SIDES), box: BoxSchema }))),
  by: Type.Optional(Type.String({ maxLength: 256 })),
});

export interface FeedbackSample {
  /** ids of changes sort by time */
  readonly id: string;
  /** line of the file, from 1 */
  readonly line: number;
  readonly camera: string;
  /** paths, absolute or relative to the folder of the file */
  readonly frames: Readonly<Record<Side, string>>;
  /** of the change on the frames; empty: unknown */
  readonly regions: readonly { readonly side: Side; readonly box: Box }[];
  /** the key that judged it, or its camera if that is unknown */
  readonly source: string;
  /** false: a false alarm */
  readonly changed: boolean;
  /** the operator's sentence about the change; null: a false alarm, or the sentence of the service was kept */
  readonly sentence: string | null;
}

/** Why lines do not count. */
const LEFT_OUT = [
  'repeated',
  'contradictory',
  'tampering',
  'frames missing',
  'frames unreadable',
  'beyond the limit',
] as const;
type LeftOut = Readonly<Record<(typeof LEFT_OUT)[number], number>>;

export interface Audit {
  readonly samples: readonly FeedbackSample[];
  readonly leftOut: LeftOut;
}

/**
 * @param file name of the file in errors
 * @throws ScenedeltaError 'invalid-request' naming file, line and reason: not JSON, or a member missing or of the wrong
 *   type
 */
export function parseFeedback(text: string, file: string): { sample: FeedbackSample; verdict: string }[] {
  return ndjson(text, file).map(({ value, line }) => {
    const parsed: Static<typeof LineSchema> = check(LineSchema, value, file, line);
    const { id, before, after, scene = '', verdict, judgement, regions = [], by: source = scene } = parsed;
    const changed = judgement === undefined ? verdict === 'change' : judgement === 'correct';
    const [reference = ''] = parsed.references;
    const stated = judgement === undefined ? reference : (parsed.sentence ?? parsed.caption);
    const sentence = changed && stated !== undefined && stated !== parsed.caption ? stated : null;
    return {
      sample: { id, line, camera: scene, frames: { before, after }, regions, source, changed, sentence },
      verdict,
    };
  });
}

/**
 * The lines that count. Equal feedback on the same regions of the same frames counts once; different feedback on them
 * counts not at all.
 * @param exists whether the frame of a path is there
 * @param most samples that are kept: the latest, evenly over the cameras
 */
export function auditFeedback(
  lines: readonly { readonly sample: FeedbackSample; readonly verdict: string }[],
  exists: (path: string) => boolean,
  most: number,
): Audit {
  const counts: Record<string, number> = Object.fromEntries(LEFT_OUT.map((reason) => [reason, 0]));
  const leaveOut = (reason: (typeof LEFT_OUT)[number], number = 1) => {
    counts[reason] = (counts[reason] ?? 0) + number;
  };
  const byFrames = new Map<string, FeedbackSample[]>();
  for (const { sample, verdict } of lines) {
    if (verdict === 'tamper') leaveOut('tampering');
    else if (!SIDES.every((side) => exists(sample.frames[side]))) leaveOut('frames missing');
    else {
      const key = `${pairOf(sample)}\n${JSON.stringify(sample.regions)}`;
      append(byFrames, key, sample);
    }
  }
  const single = [...byFrames.values()].flatMap((same) => {
    const [first] = same;
    const opinions = new Set(same.map(({ changed, sentence }) => `${changed} ${sentence?.trim().toLowerCase()}`));
    if (opinions.size > 1) leaveOut('contradictory', same.length);
    else leaveOut('repeated', same.length - 1);
    return first === undefined || opinions.size > 1 ? [] : [first];
  });
  const samples = latestOfEach(single, most);
  leaveOut('beyond the limit', single.length - samples.length);
  return { samples, leftOut: counts as LeftOut };
}

/** Changes of the same frames have equal texts. */
export const pairOf = ({ frames }: Pick<FeedbackSample, 'frames'>): string => `${frames.before}\n${frames.after}`;

/** The latest samples, one of each camera after the other, until there are `most`. Sorted by camera and id. */
function latestOfEach(samples: readonly FeedbackSample[], most: number): FeedbackSample[] {
  const cameras = [...byCamera(samples).values()];
  const ranked = cameras.flatMap((ofCamera) => ofCamera.map((sample, i) => ({ sample, age: ofCamera.length - i })));
  const kept = ranked.sort((a, b) => a.age - b.age).slice(0, most);
  return [...byCamera(kept.map(({ sample }) => sample)).values()].flat();
}

/** Samples per camera, the earliest first. */
function byCamera(samples: readonly FeedbackSample[]): Map<string, FeedbackSample[]> {
  const found = new Map<string, FeedbackSample[]>();
  for (const sample of [...samples].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    append(found, sample.camera, sample);
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function append<K>(lists: Map<K, FeedbackSample[]>, key: K, sample: FeedbackSample): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [sample]);
  else list.push(sample);
}

const HELD_BACK = 0.25;

/**
 * The latest quarter of each camera is held back: the fit has to be right on later frames, and not on others of the
 * same hour.
 */
export function splitByTime<S extends { readonly sample: FeedbackSample }>(
  runs: readonly S[],
): { readonly fit: readonly S[]; readonly heldBack: readonly S[] } {
  const bySample = new Map(runs.map((run) => [run.sample, run]));
  const parts = [...byCamera(runs.map(({ sample }) => sample)).values()].map((ofCamera) => {
    const first = ofCamera.length - Math.floor(ofCamera.length * HELD_BACK);
    return { fit: ofCamera.slice(0, first), heldBack: ofCamera.slice(first) };
  });
  const take = (part: 'fit' | 'heldBack') => parts.flatMap((one) => one[part].map((s) => bySample.get(s) as S));
  return { fit: take('fit'), heldBack: take('heldBack') };
}
