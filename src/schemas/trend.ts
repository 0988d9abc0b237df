/** The trend of a camera: its changes and visits per week. */
import { type Static, Type } from 'typebox';
import { count, dateTime, flag, nullable, text } from './constructors.js';

export const TrendSchema = Type.Object(
  {
    camera: text('Id of the camera.'),
    name: nullable(Type.String()),
    kept_since: dateTime('Retention has removed what is older.'),
    weeks: Type.Array(
      Type.Object({
        monday: Type.String({ description: 'First day, YYYY-MM-DD.', examples: ['2026-06-01'] }),
        changes: nullable(count(''), 'Changes confirmed in the week; null: retention has removed all of it.'),
        visits: nullable(count(''), 'Visits that began in it; null as above.'),
        complete: flag('false: the week is not over, or retention has removed a part of it.'),
      }),
      { description: 'In the order of their time; the last one is the current week.' },
    ),
  },
  { $id: 'Trend', description: 'Changes and visits of a camera per week, counted from what is kept.' },
);
export type Trend = Static<typeof TrendSchema>;
