/** Parser of labelled pairs, one NDJSON line per pair: two frames, references and labels. */
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { invalidRequest, type ScenedeltaError } from '../../src/base/errors.js';
import type { Box, Side, Size } from '../../src/base/images.js';
import type { Direction } from '../../src/language/people/captions.js';
import { VERDICTS } from '../../src/schemas/kinds.js';

const PixelBox = Type.Tuple([Type.Number(), Type.Number(), Type.Number(), Type.Number()]);
const ClevrObject = Type.Object({
  color: Type.Optional(Type.String()),
  shape: Type.Optional(Type.String()),
  material: Type.Optional(Type.String()),
});

/** One line. Boxes are [x, y, width, height] in pixels of their frame. Unknown keys are ignored. */
const LineSchema = Type.Object({
  id: Type.String({ minLength: 1 }),
  before: Type.String({ minLength: 1 }),
  after: Type.String({ minLength: 1 }),
  references: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
  verdict: Type.Optional(Type.String({ enum: [...VERDICTS] })),
  kind: Type.Optional(Type.String()),
  objects: Type.Optional(
    Type.Array(
      Type.Object({
        noun: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        colour: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        count: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
        action: Type.Optional(Type.String()),
        where: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        boxes_before: Type.Optional(Type.Array(PixelBox)),
        boxes_after: Type.Optional(Type.Array(PixelBox)),
      }),
    ),
  ),
  boxes_before: Type.Optional(Type.Array(PixelBox)),
  boxes_after: Type.Optional(Type.Array(PixelBox)),
  width: Type.Optional(Type.Integer({ minimum: 1 })),
  height: Type.Optional(Type.Integer({ minimum: 1 })),
  nuisance: Type.Optional(Type.Array(Type.String())),
  scene: Type.Optional(Type.String()),
  /** CLEVR: mean overlap (IoU) of the objects between the two views; low if the camera moved far */
  iou: Type.Optional(Type.Number()),
  /** CLEVR: the changed object in each frame */
  changed: Type.Optional(
    Type.Object({
      before: Type.Optional(Type.Union([ClevrObject, Type.Null()])),
      after: Type.Optional(Type.Union([ClevrObject, Type.Null()])),
    }),
  ),
});
type Line = Static<typeof LineSchema>;

/** A thing that changed, from the labels. */
export interface TrueObject {
  readonly noun: string | null;
  readonly colour: string | null;
  readonly count: number;
  readonly direction: Direction | null;
  readonly where: string | null;
  /** alter: every name of the new colour or material */
  readonly becomes: readonly string[];
  readonly boxes: Readonly<Record<Side, readonly Box[]>>;
}

/**
 * Boxes are in pixels when parsed, and in fractions of the frame (0..1) after `normalise`; the metrics take
 * fractions.
 */
export interface Pair {
  readonly id: string;
  /** line of the file, from 1 */
  readonly line: number;
  /** paths, absolute or relative to the folder of the file */
  readonly frames: Readonly<Record<Side, string>>;
  readonly references: readonly string[];
  /** null without a label; such a pair counts only for the word metrics */
  readonly changed: boolean | null;
  readonly verdict: string | null;
  /** as labelled, e.g. 'color' */
  readonly kind: string | null;
  /** largest first */
  readonly objects: readonly TrueObject[];
  readonly boxes: Readonly<Record<Side, readonly Box[]>>;
  /** of both frames in pixels; null if not stated */
  readonly size: { readonly width: number | null; readonly height: number | null };
  readonly nuisances: readonly string[];
  readonly scene: string | null;
  readonly viewOverlap: number | null;
}

/**
 * @param file name of the file in errors
 * @throws ScenedeltaError 'invalid-request' naming file, line and reason: not JSON, a member missing or of the wrong
 *   type, no references, a repeated id, no line at all
 */
export function parsePairs(text: string, file: string): Pair[] {
  const seen = new Map<string, number>();
  const pairs = ndjson(text, file).map(({ value, line }) => {
    const parsed = check(LineSchema, value, file, line);
    const earlier = seen.get(parsed.id);
    if (earlier !== undefined)
      throw bad(file, line, `id ${JSON.stringify(parsed.id)} is that of line ${earlier} already`);
    seen.set(parsed.id, line);
    return toPair(parsed, line);
  });
  if (pairs.length === 0) throw invalidRequest(`${file}: holds no pairs, expected one JSON object a line`);
  return pairs;
}

/** The pair with its boxes in fractions of their frame. @param sizes of the frames in pixels */
export function normalise(pair: Pair, sizes: Readonly<Record<Side, Size>>): Pair {
  const scale = (boxes: readonly Box[], size: Size): Box[] =>
    boxes.map((box) => ({
      x: box.x / size.width,
      y: box.y / size.height,
      width: box.width / size.width,
      height: box.height / size.height,
    }));
  const both = ({ before, after }: Pair['boxes']) => ({
    before: scale(before, sizes.before),
    after: scale(after, sizes.after),
  });
  return {
    ...pair,
    boxes: both(pair.boxes),
    objects: pair.objects.map((object) => ({ ...object, boxes: both(object.boxes) })),
  };
}

export const bad = (file: string, line: number, reason: string): ScenedeltaError =>
  invalidRequest(`${file}:${line}: ${reason}`);

/** The JSON values of an NDJSON text with their line numbers; empty lines are skipped. */
export function ndjson(text: string, file: string): { value: unknown; line: number }[] {
  return text.split('\n').flatMap((content, i) => {
    if (content.trim() === '') return [];
    try {
      return [{ value: JSON.parse(content) as unknown, line: i + 1 }];
    } catch (error) {
      throw bad(file, i + 1, `not JSON (${(error as Error).message})`);
    }
  });
}

/** @throws ScenedeltaError 'invalid-request' naming the first member that does not fit the schema */
export function check<T extends TSchema>(schema: T, value: unknown, file: string, line: number): Static<T> {
  if (Value.Check(schema, value)) return value as Static<T>;
  const [first] = Value.Errors(schema, value);
  const member = first?.instancePath.slice(1) || 'the line';
  throw bad(file, line, `${member} ${first?.message ?? 'does not fit'}`);
}

function toPair(line: Line, number: number): Pair {
  const boxes = { before: toBoxes(line.boxes_before), after: toBoxes(line.boxes_after) };
  const verdict = line.verdict ?? null;
  return {
    id: line.id,
    line: number,
    frames: { before: line.before, after: line.after },
    references: line.references,
    changed: verdict === null ? null : verdict === 'change' || verdict === 'tamper',
    verdict,
    kind: line.kind ?? null,
    objects: trueObjects(line, boxes).sort((a, b) => largest(b) - largest(a)),
    boxes,
    size: { width: line.width ?? null, height: line.height ?? null },
    nuisances: line.nuisance ?? [],
    scene: line.scene ?? null,
    viewOverlap: line.iou ?? null,
  };
}

function trueObjects(line: Line, boxes: Pair['boxes']): TrueObject[] {
  if (line.objects === undefined || line.objects.length === 0) return clevrObject(line, boxes);
  const alone = line.objects.length === 1;
  return line.objects.map((object) => {
    const labelled = {
      before: object.boxes_before ? toBoxes(object.boxes_before) : alone ? boxes.before : [],
      after: object.boxes_after ? toBoxes(object.boxes_after) : alone ? boxes.after : [],
    };
    return {
      noun: object.noun ?? null,
      colour: object.colour ?? null,
      count: object.count ?? 1,
      direction: directionOf(object.action ?? line.kind, labelled),
      where: object.where ?? null,
      becomes: [],
      boxes: labelled,
    };
  });
}

/** A CLEVR line has one changed object, as the generator of the scene recorded it. */
function clevrObject(line: Line, boxes: Pair['boxes']): TrueObject[] {
  const { before = null, after = null } = line.changed ?? {};
  const object = before ?? after;
  if (object === null) return [];
  const material = { metal: ['metal', 'metallic', 'shiny'], rubber: ['rubber', 'matte'] }[after?.material ?? ''];
  return [
    {
      noun: object.shape ?? null,
      colour: object.color ?? null,
      count: 1,
      direction: directionOf(line.kind, boxes),
      where: null,
      becomes: line.kind === 'material' ? (material ?? []) : line.kind === 'color' && after?.color ? [after.color] : [],
      boxes,
    },
  ];
}

function directionOf(action: string | undefined, boxes: Pair['boxes']): Direction | null {
  if (action === 'color' || action === 'material') return 'alter';
  if (/^(?:appear|add)/.test(action ?? '')) return 'appear';
  if (/^(?:disappear|drop|remove)/.test(action ?? '')) return 'disappear';
  if (/^mov/.test(action ?? '')) return 'move';
  // 'replaced' or no action: the frames that have boxes decide.
  if (boxes.before.length > 0) return boxes.after.length > 0 ? 'move' : 'disappear';
  return boxes.after.length > 0 ? 'appear' : null;
}

const toBoxes = (boxes: readonly (readonly number[])[] = []): Box[] =>
  boxes.map(([x = 0, y = 0, width = 0, height = 0]) => ({ x, y, width, height }));
const largest = ({ boxes }: TrueObject): number =>
  Math.max(0, ...[...boxes.before, ...boxes.after].map((box) => box.width * box.height));
