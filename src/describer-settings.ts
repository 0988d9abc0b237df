/** Settings of the describer: a language model that the operator runs and that words confirmed changes. */
import { Type } from 'typebox';
import { flag, integer, list, oneOf, optionalText, text } from './setting-schemas.js';

export const DESCRIBER_SETTINGS = {
  DESCRIBER_URL: Type.Unsafe<string | null>(
    Type.String({
      pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$',
      title: 'an http(s) address without a login and a query',
      default: null,
      description:
        'Base address of an OpenAI-compatible server with a vision model, e.g. http://127.0.0.1:8000/v1; it is asked ' +
        'about confirmed changes of the cameras that have a `describer`. Default: none is asked (docs/describer.md).',
    }),
  ),
  DESCRIBER_MODEL: text('default', 'Name of the model in requests to DESCRIBER_URL.'),
  DESCRIBER_API_KEY: optionalText('Sent to DESCRIBER_URL as `Authorization: Bearer ...`.'),
  DESCRIBER_FORMAT: oneOf(
    ['json_schema', 'json_object'],
    'json_schema',
    'How the model is asked for JSON; json_object for servers that enforce no schema.',
  ),
  DESCRIBER_ALLOW: list('Private addresses or CIDRs of DESCRIBER_URL, comma separated; OUTBOUND_ALLOW does not count.'),
  DESCRIBER_ALLOW_PUBLIC: flag(false, 'Let DESCRIBER_URL have a public address: pictures then leave your network.'),
  DESCRIBER_TIMEOUT_MS: integer(1_000, 300_000, 20_000, 'Timeout of one request to DESCRIBER_URL.'),
  DESCRIBER_KEY_CALLS: integer(0, 1_000_000, 600, 'Requests per hour to DESCRIBER_URL for the frames of one API key.'),
  DESCRIBER_KEY_TOKENS: integer(0, 1_000_000_000, 2_000_000, 'Tokens per hour for the frames of one API key.'),
  DESCRIBER_CAMERA_CALLS: integer(0, 1_000_000, 60, 'Requests per hour to DESCRIBER_URL for one camera.'),
  DESCRIBER_CAMERA_TOKENS: integer(0, 1_000_000_000, 200_000, 'Tokens per hour for one camera.'),
};
