/**
 * Loader of fitted.json, the bound that `npm run fit:quiet` writes. No other file here does I/O.
 */
import { readFileSync } from 'node:fs';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

const rangeSchema = Type.Object({ least: Type.Number({ exclusiveMinimum: 0 }), most: Type.Number({ maximum: 15 }) });

const FittedSchema = Type.Object({
  command: Type.String(),
  /** of pairs that did not choose the bound */
  figures: Type.Record(Type.String(), Type.Number()),
  /** scores, in units of a bound of 1, and the number of pairs that they are of */
  chosen_by: Type.Record(Type.String(), Type.Number()),
  /** largest difference of a quiet frame, in units of the noise of its tile */
  bound: Type.Number({ exclusiveMinimum: 0 }),
  /** levels within which the noise of a tile counts, for cells and for two by two cells */
  fine: rangeSchema,
  coarse: rangeSchema,
  /** the same for colour */
  chroma: rangeSchema,
  /** shake in preview pixels that is tolerated at edges beyond the fitted shift */
  edge: Type.Number({ minimum: 0 }),
  /** largest effect of the light on a quiet frame, levels */
  light: Type.Number({ exclusiveMinimum: 0 }),
  /** largest shift of a quiet frame, preview pixels */
  shift: Type.Number({ exclusiveMinimum: 0 }),
});
export type Fitted = Static<typeof FittedSchema>;

/** @throws Error naming the file and its first member that does not fit the schema */
function load(file: URL): Fitted {
  const json: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (Value.Check(FittedSchema, json)) return json;
  const [fault] = Value.Errors(FittedSchema, json);
  throw new Error(`${file.pathname}${fault?.instancePath}: ${fault?.message}`);
}

export const FITTED: Fitted = load(new URL('./fitted.json', import.meta.url));
