/** Setting of a camera for the describer: the instructions of the language model, and whether it gets whole frames. */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { literals, nullable } from '../schemas/constructors.js';
import { PRESETS } from '../schemas/description.js';

export const DescriberSettingsSchema = Type.Object(
  {
    preset: literals(PRESETS, { default: 'security', description: 'Instructions; custom: those of `instructions`.' }),
    instructions: nullable(Type.String({ minLength: 1, maxLength: 2_000 }), {
      default: null,
      description: 'For the preset custom alone. The rules about the answer follow them.',
    }),
    frames: Type.Boolean({ default: false, description: 'Also send the whole frames, at most 640 px wide and high.' }),
  },
  { additionalProperties: false },
);
export type DescriberSettings = Static<typeof DescriberSettingsSchema>;

/**
 * TypeBox fills in the defaults of a union only if the value fits one of its members; the first fault of another value
 * would be a missing default.
 * @param body of a request with the settings of a camera
 */
export function withDescriberDefaults(body: unknown): unknown {
  const { describer } = (body ?? {}) as { describer?: unknown };
  if (typeof describer !== 'object' || describer === null) return body;
  return { ...(body as object), describer: Value.Default(DescriberSettingsSchema, describer) };
}

/** @returns what `instructions` is and what is expected, if they do not fit the preset; else null */
export function instructionsFault(describer: DescriberSettings | null): string | null {
  if (describer === null) return null;
  const { preset, instructions } = describer;
  if ((preset === 'custom') === (instructions !== null)) return null;
  const expected = preset === 'custom' ? 'a text with the preset custom' : `null with the preset ${preset}`;
  return `is ${instructions === null ? 'null' : 'a text'}, expected ${expected}`;
}
