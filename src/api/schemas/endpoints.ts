/** Bodies of the endpoint routes. */
import { Type } from 'typebox';
import { EndpointSettingsSchema } from '../../endpoints/settings.js';
import { count, dateTime, flag, literals, nullable, text } from '../../schemas/constructors.js';

export const ENDPOINT_ID_PATTERN = '^end_[0-9a-z]{26}$';
export const EndpointIdParams = Type.Object({
  id: Type.String({
    pattern: ENDPOINT_ID_PATTERN,
    description: 'Id of the endpoint.',
    examples: ['end_01k9x3v5s8q2m7c4w6n1b0t9hz'],
  }),
});

const secret = 'Signs the requests (Standard Webhooks). It is shown only in this answer.';

export const EndpointSchema = Type.Object(
  {
    id: Type.String(),
    url: text('Scheme, host and port alone, since paths and queries contain tokens with many receivers.'),
    owner: nullable(Type.String(), 'Owner of the API key that subscribed with it; null: an administrator made it.'),
    ...EndpointSettingsSchema.properties,
    has_authorization: flag('Whether requests have the header Authorization.'),
    secrets: Type.Integer({ minimum: 0, maximum: 2, description: 'Number of secrets that sign requests now.' }),
    previous_secret_until: nullable(dateTime(), 'End of the earlier secret after a rotation; null: there is none.'),
    state: literals(['active', 'failing', 'disabled', 'stopped'], {
      description:
        'active; failing: the last attempt failed; disabled: by `enabled`; stopped: by the service, see `stopped`.',
    }),
    failing_since: nullable(dateTime(), 'First failed attempt since the last success.'),
    last_delivered_at: nullable(dateTime()),
    last_error: nullable(Type.String()),
    held_back: count('Messages that `limit` has held back so far; digests report them.'),
    stopped: nullable(
      Type.Object({
        at: dateTime(),
        reason: literals(['gone', 'failing'], { description: 'gone: 410. failing: every attempt of 5 days failed.' }),
        detail: Type.String(),
      }),
      'Why the service sends nothing more; `enabled: true` starts it again.',
    ),
    created_at: dateTime(),
    updated_at: dateTime(),
  },
  { $id: 'Endpoint', description: 'A registered receiver of alerts.' },
);

export const EndpointCreatedSchema = Type.Object(
  { ...EndpointSchema.properties, secret: nullable(Type.String(), `${secret} null: the format is not signed.`) },
  { $id: 'EndpointCreated' },
);

export const RotateRequestSchema = Type.Object(
  {
    previous_valid_s: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_592_000,
        default: 86_400,
        description: 'Seconds for which requests are signed with the earlier secret as well; 0: it ends at once.',
      }),
    ),
  },
  { $id: 'RotateRequest', additionalProperties: false },
);
export const RotatedSchema = Type.Object(
  { secret: Type.String({ description: secret }), previous_secret_until: nullable(dateTime()) },
  { $id: 'RotatedSecret' },
);

export const RecoverRequestSchema = Type.Object(
  { since: dateTime('Alerts made from this time on, by the clock of the service.') },
  { $id: 'RecoverRequest', additionalProperties: false },
);
export const RecoveredSchema = Type.Object(
  { queued: Type.Integer({ description: 'Deliveries that are queued.' }) },
  { $id: 'Recovered' },
);
