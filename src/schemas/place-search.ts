/** When a place in a recording changed: the result of a search, which the command line and batches give alike. */
import { type Static, Type } from 'typebox';
import { BoxSchema } from './box.js';
import { RegionSchema } from './comparison.js';
import { count, flag, literals, nullable, text, unit } from './constructors.js';
import { CHANGE_KINDS } from './kinds.js';
import { MomentSchema, OutlineSchema, pointSchema } from './recording.js';

const PlaceChangeSchema = Type.Object({
  kind: literals(CHANGE_KINDS, 'Kind of the change.'),
  caption: text('The sentence.'),
  confidence: unit(),
  regions: Type.Array(RegionSchema, { description: 'Regions at the place.' }),
  outlines: Type.Array(OutlineSchema, { description: 'Contours of the regions; may be absent from small places.' }),
});
export type PlaceChange = Static<typeof PlaceChangeSchema>;

export const PlaceIntervalSchema = Type.Object(
  {
    before: Type.Object(MomentSchema.properties, { description: 'The last frame of the earlier state.' }),
    after: Type.Object(MomentSchema.properties, { description: 'The first frame of the later state.' }),
    exact: flag('false: frames between them remain, in which the place is covered or could not be decided.'),
    change: PlaceChangeSchema,
    pictures: Type.Optional(
      Type.Object(
        { before: Type.String(), after: Type.String() },
        { description: 'Paths of both frames, relative to that of the batch or to the folder of the outputs.' },
      ),
    ),
  },
  { $id: 'PlaceInterval' },
);
export type PlaceInterval = Static<typeof PlaceIntervalSchema>;

export const PlaceSearchSchema = Type.Object(
  {
    v: Type.Literal(1, { description: 'Version of this format.' }),
    roi: BoxSchema,
    polygon: Type.Optional(Type.Array(pointSchema, { description: 'The place, if a polygon was given.' })),
    changed: nullable(PlaceIntervalSchema, 'The interval in which the place changed; null: no change was found.'),
    changed_back: nullable(
      PlaceIntervalSchema,
      'The interval in which the place returned to its first state; null if no examined frame shows that.',
    ),
    frames: count('Frames that the search could choose from.'),
    looks: count('Frames that it looked at, at most 2 log2(frames) per interval.'),
    comparisons: count('Pairs of frames that were compared.'),
    failures: Type.Array(Type.Object({ file: Type.String(), code: Type.String(), reason: Type.String() }), {
      description: 'Files that could not be read; the search went without them.',
    }),
    covered: Type.Array(Type.Object(MomentSchema.properties), { description: 'Looks at which the place was covered.' }),
  },
  { $id: 'PlaceSearch' },
);
export type PlaceSearch = Static<typeof PlaceSearchSchema>;
