import { describe, expect, it } from '@jest/globals';
import { checkAddress, checkUrlSyntax, parseAllowList } from '../../src/outbound/address.js';

const url = (text: string, cidrs: string[] = []) =>
  checkUrlSyntax(text, { field: 'before', allow: parseAllowList(cidrs) });

describe('addresses', () => {
  it.each(['8.8.8.8', '1.1.1.1', '100.63.255.255', '100.128.0.0', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])(
    '%s may be reached',
    (address) => expect(checkAddress(address)).toBeNull(),
  );

  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['fd00::1', 'private'],
    ['fc00::1', 'private'],
    ['169.254.169.254', 'link-local'], // cloud metadata
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['fd00:ec2::254', 'private'], // cloud metadata over IPv6
    ['100.64.0.1', 'carrier-grade NAT'],
    ['100.127.255.255', 'carrier-grade NAT'],
    ['224.0.0.1', 'multicast'],
    ['ff02::1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['192.0.2.1', 'not a public'], // documentation
    ['198.51.100.1', 'not a public'],
    ['203.0.113.1', 'not a public'],
    ['2001:db8::1', 'not a public'],
    ['3fff::1', 'not a public'],
    ['198.18.0.1', 'not a public'], // benchmarking
    ['192.0.0.170', 'not a public'],
    ['192.88.99.1', 'not a public'],
    ['240.0.0.1', 'not a public'],
    ['::ffff:127.0.0.1', 'loopback'], // IPv4-mapped
    ['::ffff:7f00:1', 'loopback'],
    ['::ffff:10.0.0.1', 'private'],
    ['::ffff:169.254.169.254', 'link-local'],
    ['::127.0.0.1', 'loopback'], // IPv4-compatible
    ['::10.0.0.1', 'private'],
    ['64:ff9b::7f00:1', 'not a public'], // NAT64
    ['64:ff9b::8.8.8.8', 'not a public'],
    ['64:ff9b:1::1', 'not a public'],
    ['2002:7f00:1::', 'not a public'], // 6to4
    ['2001::1', 'not a public'], // Teredo
    ['100::1', 'not a public'],
    ['fec0::1', 'not a public'],
    ['5f00::1', 'not a public'],
    ['4000::1', 'not a public'], // outside global unicast
  ])('%s may not be reached: it is %s', (address, why) => expect(checkAddress(address)).toContain(why));

  it.each(['', 'localhost', '127.1', '0x7f.0.0.1', '2130706433', '010.0.0.1', '1.2.3', '[::1]', '1.2.3.4:80'])(
    '%j is not an address',
    (address) => expect(checkAddress(address)).toBe('not an IP address'),
  );

  it('that are private may be reached if a CIDR allows them', () => {
    const allow = parseAllowList(['10.1.0.0/16', 'fd12::/16', '127.0.0.1/32']);
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd12::1', '127.0.0.1']) {
      expect(checkAddress(address, allow)).toBeNull();
    }
    for (const address of ['10.2.0.1', 'fd13::1', '127.0.0.2', '::1']) {
      expect(checkAddress(address, allow)).not.toBeNull();
    }
  });

  it('stand for themselves alone without a prefix length', () => {
    const allow = parseAllowList(['10.1.2.3', 'fd00::1']);
    for (const address of ['10.1.2.3', 'fd00::1']) expect(checkAddress(address, allow)).toBeNull();
    for (const address of ['10.1.2.4', 'fd00::2']) expect(checkAddress(address, allow)).not.toBeNull();
  });

  it.each(['10.0.0.7:0', '10.0.0.7:65536', 'fd00::7:x', '[fd00::7]:', '10.0.0.7:88:88', 'camera:88'])(
    'with the port in %j are refused by name',
    (entry) => expect(() => parseAllowList([entry])).toThrow(`OUTBOUND_ALLOW has ${JSON.stringify(entry)}`),
  );

  it.each(['10.0.0', '10.0.0.0/33', 'x/8', '', 'fd00::/129'])('the CIDR %j is refused by name', (cidr) => {
    expect(() => parseAllowList([cidr])).toThrow(`OUTBOUND_ALLOW has ${JSON.stringify(cidr)}`);
  });
});

describe('URLs', () => {
  it.each([
    'https://example.com/a.jpg?x=1#y',
    'http://example.com:8080/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'http://localhost/', // a name: found out when it is resolved
  ])('%s may be requested', (text) => expect(url(text).href).toBe(text));

  it.each([
    ['', 'absolute'],
    ['example.com/a.jpg', 'absolute'],
    ['//example.com', 'absolute'],
    ['http://', 'absolute'],
    ['ftp://example.com', 'ftp:'],
    ['file:///etc/passwd', 'file:'],
    ['data:image/png;base64,AA', 'data:'],
    ['gopher://example.com', 'gopher:'],
    ['https://user@example.com', 'user name or password'],
    ['https://:pass@example.com', 'user name or password'],
    ['https://example.com:25/', 'port 25'],
    ['https://example.com:6379@evil.example/', 'user name or password'],
    ['http://127.0.0.1/', 'loopback'],
    ['http://127.1/', 'loopback'],
    ['http://2130706433/', 'loopback'],
    ['http://0x7f000001/', 'loopback'],
    ['http://0x7f.1/', 'loopback'],
    ['http://0177.0.0.1/', 'loopback'],
    ['http://①②⑦.0.0.1/', /loopback|no host/],
    ['http://127.0.0.1./', 'loopback'],
    ['http://0/', 'unspecified'],
    ['http://[::1]/', 'loopback'],
    ['http://[::ffff:127.0.0.1]/', 'loopback'],
    ['http://[::ffff:a9fe:a9fe]/', 'link-local'],
    ['http://[64:ff9b::a00:1]/', 'not a public'],
    ['http://169.254.169.254/latest/meta-data/', 'link-local'],
    [`https://example.com/${'x'.repeat(2048)}`, 'characters'],
  ])('%s is refused: %s', (text, why) => {
    const attempt = () => url(text);
    expect(attempt).toThrow(why);
    expect(attempt).toThrow(expect.objectContaining({ code: 'url-refused', field: 'before' }));
  });

  it('with an allowed private address may be requested', () => {
    expect(url('http://127.0.0.1:9000/hook', ['127.0.0.0/8']).port).toBe('9000');
  });

  it.each([
    ['http://127.0.0.1:88/', '127.0.0.0/8'],
    ['http://127.0.0.1:81/', '127.0.0.0/8'],
    ['http://127.0.0.1:554/', '127.0.0.1'],
    ['http://[::1]:82/', '::1'],
    ['http://127.0.0.1:25/', '127.0.0.1:25'],
    ['http://[::1]:25/', '[::1]:25'],
    ['http://10.1.2.3:88/', '10.0.0.0/8:88'],
    ['http://8.8.8.8:88/', '8.8.8.8:88'],
    ['http://camera.example:88/', '10.0.0.0/8'], // the addresses of a name are checked when it is resolved
  ])('%s may be requested if OUTBOUND_ALLOW has %s', (text, entry) => expect(url(text, [entry]).href).toBe(text));

  it.each([
    ['http://127.0.0.1:25/', '127.0.0.0/8'],
    ['http://127.0.0.1:22/', '127.0.0.1'],
    ['http://127.0.0.1:89/', '127.0.0.1:88'],
    ['http://127.0.0.1/', '127.0.0.1:88'],
    ['http://127.0.0.2:88/', '127.0.0.1:88'],
    ['http://8.8.8.8:88/', '10.0.0.0/8'],
    ['http://camera.example:88/', ''],
  ])('%s is refused although OUTBOUND_ALLOW has %s', (text, entry) => {
    expect(() => url(text, entry === '' ? [] : [entry])).toThrow(/port|loopback/);
  });
});
