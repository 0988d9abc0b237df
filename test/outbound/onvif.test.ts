/** The search for ONVIF cameras, and what one is asked: against a real responder on the loopback interface. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { parseAllowList } from '../../src/outbound/address.js';
import { createOnvif } from '../../src/outbound/onvif.js';
import { discoverCameras } from '../../src/outbound/onvif-discovery.js';
import { LOOPBACK, type Match, probeMatch, startOnvifCamera, startResponder } from '../helpers/onvif-camera.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
const closing = <T extends { close(): unknown }>(one: T): T => {
  open.push(one);
  return one;
};
const allow = parseAllowList([LOOPBACK], { publicToo: false });
let port = 0;
const search = (mostCameras = 20) => discoverCameras({ allow, waitMs: 400, mostCameras, port });
const respond = async (answers: (id: string) => readonly (string | Buffer)[]) => {
  const responder = closing(await startResponder(answers, 0));
  port = responder.port;
  return responder;
};
const XADDRS = 'http://127.0.0.1:8899/onvif/device_service http://[fe80::1]/onvif/device_service';
const GATE: Match = { key: 'urn:uuid:1', xaddrs: XADDRS };
const FOUND = {
  ...{ name: 'Gate north', hardware: 'IPC-42', location: 'country/x, Yard' },
  ...{ addresses: ['http://127.0.0.1:8899/onvif/device_service'], refused: ['fe80::1'] },
};

describe('a search for cameras', () => {
  it('sends one probe, and finds a camera once, with its name, model and place', async () => {
    const responder = await respond((id) => [probeMatch(id, GATE), probeMatch(id, GATE)]);
    expect(await search()).toEqual([FOUND]);
    expect(responder.probes).toHaveLength(1);
    expect(responder.probes[0]).toContain('NetworkVideoTransmitter');
  });

  const bomb = (id: string) =>
    probeMatch(id, { key: 'urn:b', xaddrs: '&c;' }).replace(
      '<?xml version="1.0"?>',
      '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>',
    );
  it.each<[string, (id: string) => string | Buffer]>([
    ['no XML', () => Buffer.from([0, 255, 60, 60, 62])],
    ['XML that ends too early', (id) => probeMatch(id, GATE).slice(0, 700)],
    ['more bytes than an answer has', (id) => probeMatch(id, { ...GATE, scopes: ' '.repeat(17_000) })],
    ['an entity that expands', bomb],
    ['elements in each other', () => '<a>'.repeat(5_000)],
    ['a name of a prototype', (id) => probeMatch(id, GATE).replaceAll('Envelope', '__proto__')],
    ['an answer to another probe', () => probeMatch('urn:uuid:00000000-0000-4000-8000-000000000000', GATE)],
    ['a printer', (id) => probeMatch(id, { ...GATE, types: 'wsdp:Device' })],
    ['a camera without a key', (id) => probeMatch(id, { ...GATE, key: '' })],
  ])('reads on after %s', async (_what, hostile) => {
    await respond((id) => [hostile(id), probeMatch(id, { ...GATE, key: 'urn:uuid:2' })]);
    expect(await search()).toEqual([FOUND]);
  });

  it('names the hosts that OUTBOUND_ALLOW does not allow, and no other text as an address', async () => {
    const xaddrs =
      'http://169.254.169.254/latest http://8.8.8.8/x http://localhost/x file:///etc/passwd javascript:alert(1) x ' +
      'http://user:secret@127.0.0.1/x http://127.0.0.1:22/';
    await respond((id) => [probeMatch(id, { key: 'urn:uuid:3', xaddrs, scopes: 'onvif://www.onvif.org/name/50%' })]);
    const refused = ['169.254.169.254', '8.8.8.8', 'localhost', '127.0.0.1'];
    const expected = { name: '50%', hardware: '', location: '', addresses: [], refused };
    expect(await search()).toEqual([expected]);
  });

  it('lists so many cameras at most', async () => {
    await respond((id) => Array.from({ length: 30 }, (_, i) => probeMatch(id, { ...GATE, key: `urn:${i}` })));
    expect(await search(7)).toHaveLength(7);
  });

  it('sends nothing into a network that OUTBOUND_ALLOW does not name', async () => {
    const responder = await respond((id) => [probeMatch(id, GATE)]);
    const elsewhere = parseAllowList(['203.0.113.0/24'], { publicToo: false });
    const refusal = discoverCameras({ allow: elsewhere, waitMs: 10, port });
    await expect(refusal).rejects.toMatchObject({
      code: 'url-refused',
      message: expect.stringMatching(/networks of the worker are 127\.0\.0\.1\/8.*, expected one in OUTBOUND_ALLOW/),
    });
    expect(responder.probes).toEqual([]);
  });

  it('and the question to a camera are refused without ONVIF_DISCOVERY', async () => {
    const off = closing(
      createOnvif({ onvifDiscovery: false, outboundAllow: [LOOPBACK], outboundTimeoutMs: 1_000 }, Date.now),
    );
    const refused = { code: 'url-refused', message: expect.stringContaining('expected ONVIF_DISCOVERY=on') };
    await expect(off.discover()).rejects.toMatchObject(refused);
    await expect(off.addressesOf('http://127.0.0.1/', undefined)).rejects.toMatchObject(refused);
  });
});

describe('a camera that is asked for its addresses', () => {
  const login = { username: 'v<&"', password: 'geheim ü' };
  const clock = Date.UTC(2019, 0, 31, 23, 59, 58);
  const start = async (options: Partial<Parameters<typeof startOnvifCamera>[0]> = {}) =>
    closing(await startOnvifCamera({ login, clock, ...options }));
  const onvif = (outboundAllow = [LOOPBACK]) =>
    closing(createOnvif({ onvifDiscovery: true, outboundAllow, outboundTimeoutMs: 1_000 }, Date.now));

  it.each([
    ['a token by its own clock', false],
    ['Digest of HTTP', true],
  ])(
    'gives them to a login by %s, of the smallest profile that is wide enough, all at its own host',
    async (_how, http) => {
      const camera = await start({ http });
      expect(await onvif().addressesOf(camera.address, login)).toEqual({
        picture: 'http://127.0.0.1/snap?a=1&p=p&1920',
        stream: 'rtsp://127.0.0.1:554/live',
      });
      expect(new Set(camera.actions())).toEqual(
        new Set(['GetSystemDateAndTime', 'GetCapabilities', 'GetProfiles', 'GetSnapshotUri', 'GetStreamUri']),
      );
    },
  );

  it('says which status a wrong login got, and is asked no further', async () => {
    const camera = await start();
    await expect(onvif().addressesOf(camera.address, { ...login, password: 'wrong' })).rejects.toMatchObject({
      code: 'url-failed',
      message: `${camera.address} answered 400: Sender not Authorized`,
    });
    expect(camera.received).toHaveLength(2);
    const digest = await start({ http: true });
    const asked = onvif();
    await expect(asked.addressesOf(digest.address, { ...login, password: 'wrong' })).rejects.toThrow(
      'refused the user name or the password (401); it is asked again after five minutes',
    );
    await expect(asked.addressesOf(digest.address, undefined)).rejects.toThrow(
      'answered 401: it asks for a user name and a password',
    );
  });

  it('may have one of both, or none', async () => {
    const one = await start({ answers: { GetSnapshotUri: 'fault' } });
    expect(await onvif().addressesOf(one.address, login)).toEqual({
      picture: null,
      stream: 'rtsp://127.0.0.1:554/live',
    });
    const uri = (text: string) => `<MediaUri><Uri>${text}</Uri></MediaUri>`;
    const none = await start({ answers: { GetSnapshotUri: uri('file:///x'), GetStreamUri: uri('http://x/') } });
    expect(await onvif().addressesOf(none.address, login)).toEqual({ picture: null, stream: null });
  });

  it.each([
    ['names no service', { GetCapabilities: '<Capabilities/>' }, 'names no service for its pictures'],
    ['has no profile', { GetProfiles: '' }, 'has no profile with a video'],
    ['sends no XML', { GetProfiles: '<?raw {"a":1}' }, 'answered 200'],
    ['sends a DTD', { GetProfiles: '<?raw <!DOCTYPE x [<!ENTITY a "b">]><a/>' }, 'answered 200'],
    ['sends too much', { GetProfiles: 'x'.repeat(600_000) }, 'answered more than 524288 bytes'],
  ])('that %s is refused with the reason', async (_what, answers, reason) => {
    const camera = await start({ answers });
    await expect(onvif().addressesOf(camera.address, login)).rejects.toMatchObject({
      code: 'url-failed',
      message: expect.stringContaining(reason),
    });
  });

  it('is not asked at an address that OUTBOUND_ALLOW does not name, a public one neither', async () => {
    const camera = await start();
    await expect(onvif(['10.0.0.0/8']).addressesOf(camera.address, login)).rejects.toMatchObject({
      code: 'url-refused',
    });
    await expect(onvif().addressesOf('http://8.8.8.8/onvif/device_service', login)).rejects.toMatchObject({
      code: 'url-refused',
      message: expect.stringContaining('8.8.8.8 is a public address, expected an address in OUTBOUND_ALLOW'),
    });
    expect(camera.received).toEqual([]);
  });
});
