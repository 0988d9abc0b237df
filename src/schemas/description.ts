/**
 * The description of a change: the answer of a language model that the operator runs, and what became of it. The stored
 * record, the API's answer and the payload of `change.described` share this schema.
 */
import { type Static, Type } from 'typebox';
import { BoxSchema } from './box.js';
import { dateTime, literals, nullable } from './constructors.js';

/** Sets of instructions for the language model, one per kind of place. */
export const PRESETS = ['security', 'parking', 'site', 'retail', 'custom'] as const;
export type Preset = (typeof PRESETS)[number];

/** Possible events of a region. */
export const HAPPENED = ['appeared', 'disappeared', 'moved', 'replaced', 'nothing'] as const;
export type Happened = (typeof HAPPENED)[number];

const DESCRIPTION_STATUSES = ['accepted', 'refused', 'failed', 'skipped'] as const;
const DESCRIPTION_REASONS = [
  'not-json',
  'too-long',
  'not-one-sentence',
  'empty',
  'unknown-region',
  'other-event',
  'other-noun',
  'other-direction',
  'unclear-sentence',
  'no-answer',
  'answer-refused',
  'answer-too-large',
  'limit',
  'unavailable',
  'frames-gone',
] as const;
export type DescriptionReason = (typeof DESCRIPTION_REASONS)[number];

/** Most words of the sentence. */
export const SENTENCE_WORDS = 40;

const ReasonSchema = Type.Object({
  code: literals(DESCRIPTION_REASONS, 'Stable name of the reason; docs/describer.md explains each.'),
  detail: Type.String({ maxLength: 300, description: 'The given value and the expected one, for people.' }),
});

export const DescriptionSchema = Type.Object(
  {
    status: literals(
      DESCRIPTION_STATUSES,
      'accepted: it agrees with the evidence | refused: it does not | failed: no usable answer came | skipped: the ' +
        'describer was not asked.',
    ),
    sentence: nullable(
      Type.String({ maxLength: 400 }),
      `The describer's sentence: plain text of at most ${SENTENCE_WORDS} words without links and markup. null unless ` +
        'accepted.',
    ),
    changes: Type.Array(
      Type.Object({
        box: BoxSchema,
        happened: literals(HAPPENED, 'What became of the thing; the same as in the evidence.'),
        noun: Type.String({ maxLength: 60 }),
        colour: nullable(Type.String({ maxLength: 40 })),
      }),
      { description: 'One entry per region that the describer names. Empty unless accepted.' },
    ),
    reason: nullable(ReasonSchema, 'null if accepted.'),
    preset: literals(PRESETS, 'Instructions that the describer got.'),
    model: nullable(Type.String({ maxLength: 128 }), 'Name of the model, as its server gives it; null without answer.'),
    ms: Type.Integer({ minimum: 0, description: 'Time from the first request to the last byte of the answer.' }),
    tokens: nullable(
      Type.Object({ prompt: Type.Integer({ minimum: 0 }), completion: Type.Integer({ minimum: 0 }) }),
      'As the server counted them; null if it did not.',
    ),
    at: dateTime('Time of the answer, by the clock of the service.'),
  },
  { $id: 'Description' },
);
export type Description = Static<typeof DescriptionSchema>;
