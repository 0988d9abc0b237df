/** Query of an evidence package. */
import { Type } from 'typebox';
import { CAMERA_ID_PATTERN } from '../../camera/settings/id-pattern.js';
import { VISIT_ID_PATTERN } from '../../schemas/visit.js';
import { CHANGE_ID_PATTERN } from './list-changes.js';
import { timeQuery } from './pages.js';

export const EvidenceQuery = Type.Object(
  {
    change: Type.Optional(Type.String({ pattern: CHANGE_ID_PATTERN })),
    visit: Type.Optional(Type.String({ pattern: VISIT_ID_PATTERN })),
    camera: Type.Optional(Type.String({ pattern: CAMERA_ID_PATTERN, description: 'With `since` and `until`.' })),
    ...timeQuery('Confirmed, or begun,'),
  },
  { additionalProperties: false },
);
