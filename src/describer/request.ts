/** The request to an OpenAI-compatible server: `POST {base}/chat/completions`. Pure. */
import type { Box, Side } from '../images.js';
import { HAPPENED } from '../schemas/description.js';
import { type CameraInstructions, instructionsFor } from './instructions.js';

export const ANSWER_TOKENS = 250;
/** Coordinates of boxes go from 0 to this number: models were trained on integers, not on fractions. */
const BOX_SCALE = 1000;

/** How the server is asked for JSON: by a schema that it enforces, or as any object. */
const JSON_MODES = ['json_schema', 'json_object'] as const;
type JsonMode = (typeof JSON_MODES)[number];

/** Encoded JPEG files. */
export type JpegPair = Readonly<Record<Side, Uint8Array>>;

interface ShownPlace {
  readonly box: Box;
  readonly crops: JpegPair;
}

export interface DescriberRequest extends CameraInstructions {
  readonly model: string;
  readonly jsonMode: JsonMode;
  readonly places: readonly ShownPlace[];
  /** whole frames, reduced; null: crops alone */
  readonly frames: JpegPair | null;
}

/** The schema of an answer, for servers that enforce one. */
const ANSWER_JSON_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['changes', 'sentence'],
  properties: {
    changes: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['region', 'happened', 'noun', 'colour'],
        properties: {
          region: { type: 'integer' },
          happened: { type: 'string', enum: HAPPENED },
          noun: { type: 'string' },
          colour: { type: ['string', 'null'] },
        },
      },
    },
    sentence: { type: 'string' },
  },
} as const;

/** @returns the body of the request: pictures, boxes and instructions; no time, camera, sentence, noun or direction */
export function requestBody({ model, jsonMode, places, frames, ...camera }: DescriberRequest): string {
  const content = [
    ...(frames === null
      ? []
      : [text('The whole frames, BEFORE and AFTER:'), picture(frames.before), picture(frames.after)]),
    ...places.flatMap(({ box, crops }, i) => [
      text(`Region ${i + 1}, box [${corners(box).join(', ')}] of 0 to ${BOX_SCALE}. BEFORE and AFTER:`),
      picture(crops.before),
      picture(crops.after),
    ]),
  ];
  const schema = { name: 'changes', strict: true, schema: ANSWER_JSON_SCHEMA };
  return JSON.stringify({
    model,
    temperature: 0,
    max_tokens: ANSWER_TOKENS,
    stream: false,
    response_format: { type: jsonMode, ...(jsonMode === 'json_schema' ? { json_schema: schema } : {}) },
    messages: [
      { role: 'system', content: instructionsFor(camera) },
      { role: 'user', content },
    ],
  });
}

const text = (words: string) => ({ type: 'text', text: words });
const picture = (jpeg: Uint8Array) => ({
  type: 'image_url',
  image_url: { url: `data:image/jpeg;base64,${Buffer.from(jpeg).toString('base64')}` },
});

/** Left, top, right and bottom. */
const corners = ({ x, y, width, height }: Box): number[] =>
  [x, y, x + width, y + height].map((edge) => Math.round(Math.min(1, Math.max(0, edge)) * BOX_SCALE));
