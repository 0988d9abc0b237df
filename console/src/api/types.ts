/** Names for the schemas of the API, as openapi/openapi.yaml describes them. */
import type { components, operations } from '../../../openapi/generated/api.js';

type Schemas = components['schemas'];
export type Comparison = Schemas['Comparison'];
export type Change = Schemas['Change'];
export type ChangeMatch = Schemas['ChangeMatch'];
export type ChangeSearch = Schemas['ChangeSearch'];
export type Visit = Schemas['Visit'];
export type Camera = Schemas['Camera'];
export type SnapshotTest = Schemas['SnapshotTest'];
export type Zone = Schemas['Zone'];
export type Delivery = Schemas['Delivery'];
export type Endpoint = Schemas['Endpoint'];
export type EndpointRequest = Schemas['EndpointRequest'];
export type EndpointPatch = Schemas['EndpointPatch'];
export type ServedModel = Schemas['ServedModel'];
export type Box = Schemas['Box'];
export type Session = operations['readSession']['responses'][200]['content']['application/json'];

export const SIDES = ['before', 'after'] as const;
export type Side = (typeof SIDES)[number];
export const otherSide = (side: Side): Side => (side === 'before' ? 'after' : 'before');
export const SEVERITIES = ['info', 'low', 'medium', 'high'] as const;
