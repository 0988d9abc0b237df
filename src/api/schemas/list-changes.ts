/** Query and answer of the list of changes. */
import { Type } from 'typebox';
import { literals, nullable } from '../../schemas/constructors.js';
import { CHANGE_STATUSES, FILTER_KINDS, SEVERITIES } from '../../schemas/kinds.js';
import { NOT_BLANK_PATTERN } from '../../schemas/patterns.js';
import { labelQuery } from '../cameras/labelled.js';
import { pageQuery, timeQuery } from './pages.js';
import { json, problems, RESPONSE_HEADERS, ref } from './shared.js';

/** Characters of a query. A sentence has about a hundred. */
const LONGEST_QUERY = 500;
export const CHANGE_ID_PATTERN = '^chg_[0-9a-z]{26}$';

export const ListChangesQuerySchema = Type.Object(
  {
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: LONGEST_QUERY,
        pattern: NOT_BLANK_PATTERN,
        description:
          'Words to search for in captions, in the sentences of feedback, and in the names of cameras and zones. The ' +
          'best answers come first. No character has a special meaning.',
        examples: ['a red car has left'],
      }),
    ),
    like: Type.Optional(
      Type.String({ pattern: CHANGE_ID_PATTERN, description: 'Instead of `q`: changes like this one.' }),
    ),
    camera: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    ...labelQuery,
    zone: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Id of the zone of the change.' })),
    kind: Type.Optional(literals(FILTER_KINDS)),
    severity: Type.Optional(literals(SEVERITIES)),
    status: Type.Optional(
      literals(CHANGE_STATUSES, {
        description: 'Current status. `acknowledged` also returns the acknowledged changes that have reverted since.',
      }),
    ),
    ...timeQuery('Confirmed'),
    ...pageQuery(),
  },
  { additionalProperties: false },
);

export const LIST_CHANGES_RESPONSES = {
  200: json(
    'One page; with `search` if `q` or `like` was given, and `visits` with `q`.',
    Type.Object({
      items: Type.Array(ref('ListedChange'), {
        description: 'At most `limit`; possibly fewer although there is a next page.',
      }),
      next_cursor: nullable(Type.String(), 'For the next page; null on the last.'),
      search: Type.Optional(ref('ChangeSearch')),
      visits: Type.Optional(
        Type.Object(
          {
            items: Type.Array(ref('Visit')),
            next_cursor: nullable(Type.String(), 'For `GET /v1/visits` with the same query; null: there are no more.'),
          },
          {
            description:
              'With `q`, on the first page: the first page of `GET /v1/visits` with the same `q`, `camera`, `label`, ' +
              '`since`, `until` and `limit`. Absent with `zone`, `kind`, `severity` or `status`, which visits do not have.',
          },
        ),
      ),
    }),
    RESPONSE_HEADERS.link,
  ),
  ...problems(['invalid-value', 'not-found']),
};
