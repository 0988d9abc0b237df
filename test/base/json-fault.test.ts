/** The place at which a text stops being JSON. */
import { isSyntaxFault, jsonFault } from '../../src/base/json-fault.js';

describe('A fault of JSON', () => {
  it.each([
    ['{"a": }', 'unexpected "}" at line 1, column 7'],
    ['{\n  "a": 1,\n}', 'unexpected "}" at line 3, column 1'],
    ["{'a': 1}", 'unexpected "\'" at line 1, column 2'],
    ['[1 2]', 'unexpected "2" at line 1, column 4'],
    ['{"a": nul}', 'unexpected "}" at line 1, column 10'],
    ['{} x', 'unexpected "x" at line 1, column 4'],
    ['{"a": "b', 'it ends at line 1, column 9 before it is complete'],
    ['{"a": 1', 'it ends at line 1, column 8 before it is complete'],
    [' ', 'it is empty'],
  ])('of %j is at its place', (text, fault) => {
    expect(isSyntaxFault(text)).toBe(true);
    expect(jsonFault(text)).toBe(fault);
  });

  it('is not looked for in a long text', () => {
    expect(jsonFault(`[${'1,'.repeat(40_000)}]`)).toBe('somewhere in its 80002 characters');
  });
});
