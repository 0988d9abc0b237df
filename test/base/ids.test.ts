import { isId, newId } from '../../src/base/ids.js';

it('new ids have the form of a ULID, sort by their time, and do not repeat', () => {
  const ids = Array.from({ length: 5_000 }, (_, i) => newId('cmp', 1_700_000_000_000 + (i % 2)));
  for (const id of ids) expect(isId('cmp', id)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  const [even = '', odd = ''] = ids;
  expect(even < odd).toBe(true);
});
