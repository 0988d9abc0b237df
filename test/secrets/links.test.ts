import { framePath, heatmapPath, linkKey, publicBaseUrl, signLink, verifyLink } from '../../src/secrets/links.js';

const key = linkKey('whsec_one');
const path = framePath('cmp_01k9x3v5s8q2m7c4w6n1b0t9hz', 'before');
const given = (link: string) => {
  const query = new URLSearchParams(link.split('?')[1]);
  return { sig: query.get('sig') ?? '', exp: query.get('exp') ?? '' };
};

describe('A signed link', () => {
  const link = signLink(path, { key, expiresAt: 1_800_000_000_500 });

  it('is valid for its path until it expires', () => {
    expect(verifyLink(path, given(link), { key, now: 1_800_000_000_999 })).toBe(true);
    expect(verifyLink(path, given(link), { key, now: 1_800_000_001_000 })).toBe(false);
  });

  it.each([
    ['another path', heatmapPath('cmp_01k9x3v5s8q2m7c4w6n1b0t9hz', 'before'), given(link), key],
    ['a later expiry', path, { ...given(link), exp: '1900000000' }, key],
    ['no signature', path, { ...given(link), sig: '' }, key],
    ['a cut signature', path, { ...given(link), sig: given(link).sig.slice(0, 20) }, key],
    ['another key', path, given(link), linkKey('whsec_two')],
  ])('is invalid for %s', (_name, to, query, by) => {
    expect(verifyLink(to, query, { key: by, now: 1_700_000_000_000 })).toBe(false);
  });
});

describe('publicBaseUrl', () => {
  it.each([
    ['PUBLIC_URL, without its slash', 'https://cameras.example/', '127.0.0.1', 8080, 'https://cameras.example'],
    ['PUBLIC_URL, whatever the port', 'https://cameras.example', '127.0.0.1', 0, 'https://cameras.example'],
    ['the address of the API', null, '127.0.0.1', 8080, 'http://127.0.0.1:8080'],
    ['an IPv6 address in brackets', null, '::1', 8080, 'http://[::1]:8080'],
  ])('is %s', (_, publicUrl, host, port, expected) => {
    expect(publicBaseUrl({ publicUrl, host, port })).toBe(expected);
  });

  it('is refused for PORT=0, because other processes cannot determine the port', () => {
    expect(() => publicBaseUrl({ publicUrl: null, host: '127.0.0.1', port: 0 })).toThrow(/PORT=0.*PUBLIC_URL/);
  });
});
