/** The search for ONVIF cameras, and what one is asked: against a real responder on the loopback interface. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { askAddresses } from '../../../clients/src/onvif/addresses.js';
import { searchCameras } from '../../../clients/src/onvif/search.js';
import { type Match, probeMatch, startOnvifCamera, startResponder } from '../../helpers/onvif-camera.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
const closing = <T extends { close(): unknown }>(one: T): T => {
  open.push(one);
  return one;
};
let port = 0;
const search = async (mostCameras = 20) => {
  const cameras = await searchCameras(['127.0.0.1'], { waitMs: 400, mostCameras, port });
  return cameras.map((camera) => ({ ...camera, service: camera.service.href }));
};
const respond = async (answers: (id: string) => readonly (string | Buffer)[]) => {
  const responder = closing(await startResponder(answers, 0));
  port = responder.port;
  return responder;
};
const XADDRS = 'http://[fe80::1]/onvif/device_service http://127.0.0.1:8899/onvif/device_service';
const GATE: Match = { key: 'urn:uuid:1', xaddrs: XADDRS };
const FOUND = {
  name: 'Gate north',
  model: 'IPC-42',
  place: 'country/x, Yard',
  service: 'http://127.0.0.1:8899/onvif/device_service',
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
    ['a camera without an address', (id) => probeMatch(id, { ...GATE, xaddrs: 'file:///x' })],
    ['a camera without a key', (id) => probeMatch(id, { ...GATE, key: '' })],
  ])('reads on after %s', async (_what, hostile) => {
    await respond((id) => [hostile(id), probeMatch(id, { ...GATE, key: 'urn:uuid:2' })]);
    expect(await search()).toEqual([FOUND]);
  });

  it.each([
    ['http://169.254.169.254/latest', 'http://127.0.0.1/latest'],
    ['http://localhost:8080/x', 'http://127.0.0.1:8080/x'],
    ['file:///etc/passwd javascript:alert(1) x http://user:secret@10.0.0.1/x', 'http://127.0.0.1/x'],
  ])('takes %s as a path and a port of the host that answered', async (xaddrs, service) => {
    await respond((id) => [probeMatch(id, { key: 'urn:uuid:3', xaddrs, scopes: 'onvif://www.onvif.org/name/50%' })]);
    expect(await search()).toEqual([{ name: '50%', model: '', place: '', service }]);
  });

  it('lists so many cameras at most', async () => {
    await respond((id) => Array.from({ length: 30 }, (_, i) => probeMatch(id, { ...GATE, key: `urn:${i}` })));
    expect(await search(7)).toHaveLength(7);
  });

  it('says why no probe could be sent', async () => {
    await expect(searchCameras(['203.0.113.9'], { waitMs: 10, port })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/^no probe could be sent from 203\.0\.113\.9: /),
    });
  });
});

describe('a camera that is asked for its addresses', () => {
  const login = { username: 'v<&"', password: 'geheim ü' };
  const clock = Date.UTC(2019, 0, 31, 23, 59, 58);
  const start = async (options: Partial<Parameters<typeof startOnvifCamera>[0]> = {}) =>
    closing(await startOnvifCamera({ login, clock, ...options }));
  const ask = (camera: { readonly address: string }, asWhom: typeof login | undefined = login) =>
    askAddresses(new URL(camera.address), asWhom, Date.now);

  it.each([
    ['a token by its own clock', undefined],
    ['Digest of HTTP with MD5', 'digest-md5' as const],
    ['Digest of HTTP with SHA-256', 'digest-sha256' as const],
    ['Digest of HTTP without qop', 'digest-rfc2069' as const],
  ])(
    'gives them to a login by %s, of the smallest profile that is wide enough, all at its own host',
    async (_how, http) => {
      const camera = await start({ http });
      expect(await ask(camera)).toEqual({
        picture: 'http://127.0.0.1/snap?a=1&p=p&1920',
        stream: 'rtsp://127.0.0.1:554/live',
      });
      expect(new Set(camera.actions())).toEqual(
        new Set(['GetSystemDateAndTime', 'GetCapabilities', 'GetProfiles', 'GetSnapshotUri', 'GetStreamUri']),
      );
    },
  );

  it('takes a user name of any script', async () => {
    const http = 'digest-sha256' as const;
    const unusual = { username: 'Wächter カメラ', password: 'x' };
    const camera = closing(await startOnvifCamera({ login: unusual, clock, http }));
    expect(await ask(camera, unusual)).toMatchObject({ stream: 'rtsp://127.0.0.1:554/live' });
  });

  it('says which status a wrong login got, and is asked no further', async () => {
    const camera = await start();
    await expect(ask(camera, { ...login, password: 'wrong' })).rejects.toMatchObject({
      message: `${camera.address} answered 400: Sender not Authorized`,
    });
    expect(camera.received).toHaveLength(2);
    const digest = await start({ http: 'digest-md5' });
    await expect(ask(digest, { ...login, password: 'wrong' })).rejects.toMatchObject({
      kind: 'unauthorized',
      message: `${digest.address} answered 401: it refuses the user name or the password`,
    });
    await expect(askAddresses(new URL(digest.address), undefined, Date.now)).rejects.toThrow(
      'answered 401: it asks for a user name and a password',
    );
  });

  it('does not get the password, whatever scheme it asks for', async () => {
    const camera = await start({ http: 'basic' });
    await expect(ask(camera)).rejects.toThrow('it asks for a login by another scheme than Digest');
    const sent = JSON.stringify(camera.received);
    for (const text of [login.password, Buffer.from(`${login.username}:${login.password}`).toString('base64')]) {
      expect(sent).not.toContain(text);
    }
  });

  it('may have one of both, or none', async () => {
    const one = await start({ answers: { GetSnapshotUri: 'fault' } });
    expect(await ask(one)).toEqual({ picture: null, stream: 'rtsp://127.0.0.1:554/live' });
    const uri = (text: string) => `<MediaUri><Uri>${text}</Uri></MediaUri>`;
    const none = await start({ answers: { GetSnapshotUri: uri('file:///x'), GetStreamUri: uri('http://x/') } });
    expect(await ask(none)).toEqual({ picture: null, stream: null });
  });

  it.each([
    ['names no service', { GetCapabilities: '<Capabilities/>' }, 'names no service for its pictures'],
    ['has no profile', { GetProfiles: '' }, 'has no profile with a video'],
    ['sends no XML', { GetProfiles: '<?raw {"a":1}' }, 'answered 200'],
    ['sends a DTD', { GetProfiles: '<?raw <!DOCTYPE x [<!ENTITY a "b">]><a/>' }, 'answered 200'],
    ['sends too much', { GetProfiles: 'x'.repeat(600_000) }, 'answered more than 524288 bytes'],
  ])('that %s is refused with the reason', async (_what, answers, reason) => {
    await expect(ask(await start({ answers }))).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining(reason),
    });
  });

  it('that does not answer is named', async () => {
    const camera = await start();
    await camera.close();
    await expect(ask(camera)).rejects.toMatchObject({
      kind: 'unavailable',
      message: `${camera.address} could not be reached (ECONNREFUSED)`,
    });
  });
});
