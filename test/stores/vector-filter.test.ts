/** Filter expressions of vector sets: only an alphabet without syntax gets into them. */
import { elementAttributes, filterExpression } from '../../src/stores/vector-filter.js';

const token = (text: string) => Buffer.from(text, 'utf8').toString('base64url');

describe('A filter expression', () => {
  it('has one condition per filter', () => {
    expect(filterExpression({ cameras: ['gate', 'yard'], zone: 'z1', since: 5.5, until: 1_790_000_000_123 })).toBe(
      `.camera in ["${token('gate')}","${token('yard')}"] and .zone == "${token('z1')}" and .at >= 6 and ` +
        '.at < 1790000000123',
    );
  });

  it('is left out without a filter, and for more cameras than an expression should list', () => {
    expect(filterExpression({})).toBeUndefined();
    const cameras = Array.from({ length: 51 }, (_, i) => `camera-${i}`);
    expect(filterExpression({ cameras })).toBeUndefined();
    expect(filterExpression({ cameras: cameras.slice(1) })).toContain(token('camera-50'));
    expect(filterExpression({ cameras, zone: 'z' })).toBe(`.zone == "${token('z')}"`);
  });

  it.each(['" or 1 == 1 or "', "'); DROP", '\\', '\\"', '"]', '\n', '', 'ö红🚗', '\u0000', '\ud800'])(
    'keeps %j from being read as syntax',
    (id) => {
      const safe = /^\.camera in \["[A-Za-z0-9_-]*"\] and \.zone == "[A-Za-z0-9_-]*"$/;
      expect(filterExpression({ cameras: [id], zone: id })).toMatch(safe);
      expect(elementAttributes({ camera: id, zone: id, confirmed: 7 })).toMatch(
        /^\{"camera":"[\w-]*","zone":"[\w-]*","at":7\}$/,
      );
    },
  );

  it('has no negative time, which is no number of an expression', () => {
    expect(filterExpression({ since: -1, until: -1_000 })).toBe('.at >= 0 and .at < 0');
  });

  it('leaves out the zone of a change without one, so that no zone finds it', () => {
    expect(JSON.parse(elementAttributes({ camera: 'gate', zone: null, confirmed: 7 }))).toEqual({
      camera: token('gate'),
      at: 7,
    });
  });
});
