/** A severity rule of a camera: conditions of a change, and the severity of those for which all of them hold. */
import { type Static, Type } from 'typebox';
import { isAboutVisits, readRuleSentence } from '../../language/people/rule-sentence.js';
import { literals, unit } from '../../schemas/constructors.js';
import { FILTER_KINDS, SEVERITIES } from '../../schemas/kinds.js';
import { CAMERA_ID_PATTERN } from './id-pattern.js';
import { windows } from './schedule.js';

export const WHEN_PROBABILITY = 0.5;
const MAX_WHEN = 200;

export const SeverityRuleSchema = Type.Object(
  {
    zone: Type.Optional(
      Type.String({ pattern: CAMERA_ID_PATTERN, description: 'Id of a zone that the change lies in.' }),
    ),
    kind: Type.Optional(
      literals(FILTER_KINDS, {
        description: 'Kind of change; object_left and object_removed hold from the moment at which it counts as one.',
      }),
    ),
    min_area: Type.Optional(unit({ description: 'Least area of the change, as a share of the frame.' })),
    when: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_WHEN,
        description:
          'Sentence that must be true of the change: things, what became of them, and the name of an include zone, such ' +
          'as "a person or a red car has appeared at the gate". Words that the service does not know are refused. ' +
          '"has stayed longer than 60 s" and "has come and gone" are about visits.',
      }),
    ),
    when_probability: Type.Optional(
      unit({
        description:
          `Least probability of \`when\`, ${WHEN_PROBABILITY} if it is absent: ` +
          'the mean over the frames that name the changed thing.',
      }),
    ),
    during: Type.Optional(windows({ description: "Times in the schedule's time zone, or in UTC without a schedule." })),
    severity: literals(SEVERITIES, { description: 'Severity of a change for which all conditions hold.' }),
  },
  { $id: 'SeverityRule', additionalProperties: false },
);
export type SeverityRule = Static<typeof SeverityRuleSchema>;

/** @returns the field of a rule that contradicts the zones or another field, and why; null if none does */
export function faultOfRule(
  { zone, kind, min_area, when, when_probability: least }: SeverityRule,
  zones: Parameters<typeof readRuleSentence>[1],
): { field: string; what: string } | null {
  if (zone !== undefined && !zones.some(({ id }) => id === zone)) {
    return { field: 'zone', what: `is ${JSON.stringify(zone)}, expected the id of a zone` };
  }
  if (least !== undefined && when === undefined) {
    return { field: 'when_probability', what: `is ${least} without a sentence, expected when beside it` };
  }
  const read = when === undefined ? undefined : readRuleSentence(when, zones);
  if (read === undefined) return null;
  if ('fault' in read) return { field: 'when', what: read.fault };
  const [beside] = [kind, min_area, least].filter((one) => one !== undefined);
  if (!isAboutVisits(read.said) || beside === undefined) return null;
  return { field: 'when', what: `is about visits, expected no kind, min_area or when_probability beside it` };
}
