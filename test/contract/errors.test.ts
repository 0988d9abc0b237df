import { readFile } from 'node:fs/promises';
import { ERROR_CODES, ERROR_TYPE_BASE, errorEntry } from '../../src/base/errors.js';

const text = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const sections = new Map(
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
);

describe('docs/errors.md', () => {
  it('explains exactly the codes of the catalogue, in the same order', () => {
    expect([...sections.keys()]).toEqual(ERROR_CODES);
  });

  it.each(ERROR_CODES)('%s: status, title, cause, remedy, and an example that fits', (code) => {
    const section = sections.get(code) ?? '';
    const { status, title, retry } = errorEntry(code);
    expect(section).toContain(`${status}, ${retry}. ${title}.`);
    expect(text).toContain(`| [\`${code}\`](#${code}) | ${status} | ${retry} |`);
    expect(section).toMatch(/\*\*Cause\.\*\* .{20,}/);
    expect(section).toMatch(/\*\*Remedy\.\*\* .{10,}/);
    const example = JSON.parse(/```json\n([\s\S]+?)```/.exec(section)?.[1] ?? '{}');
    expect(example).toMatchObject({ type: ERROR_TYPE_BASE + code, status, title });
    expect(example.detail).toMatch(/.{10,}/);
  });
});
