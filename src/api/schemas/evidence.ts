/** Query of an evidence package, and its upload to a bucket. */
import { type Static, Type } from 'typebox';
import { CAMERA_ID_PATTERN } from '../../camera/settings/id-pattern.js';
import { count, text } from '../../schemas/constructors.js';
import { DeliverySchema } from '../../schemas/delivery.js';
import { VISIT_ID_PATTERN } from '../../schemas/patterns.js';
import { ENDPOINT_ID_PATTERN } from './endpoints.js';
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

export const EvidenceUploadRequestSchema = Type.Object(
  {
    endpoint: Type.String({ pattern: ENDPOINT_ID_PATTERN, description: 'An endpoint of the format `bucket`.' }),
    ...EvidenceQuery.properties,
  },
  { $id: 'EvidenceUploadRequest', additionalProperties: false },
);
export type EvidenceUploadRequest = Static<typeof EvidenceUploadRequestSchema>;

export const EvidenceUploadSchema = Type.Object(
  {
    url: text('Address of the object. It is there once the delivery has the state `delivered`.'),
    bytes: count('Length of the package.'),
    sha256: text('Hash of the package, in hexadecimal.'),
    delivery: DeliverySchema,
  },
  { $id: 'EvidenceUpload' },
);
