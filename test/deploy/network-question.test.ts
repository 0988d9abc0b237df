/** The question of the first `npm run up` in a terminal: which networks it names, and what becomes of the answer. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { localNetworks, networkSettings } from '../../scripts/lib/network-question.mjs';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sd-network-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const terminal = (isTTY = true) => ({
  input: Object.assign(new PassThrough(), { isTTY }),
  output: Object.assign(new PassThrough(), { isTTY }),
});
const NETWORKS = ['192.168.1.0/24'];
const ALLOWED = { OUTBOUND_ALLOW: '192.168.1.0/24' };
const answered = async (text: string, env: Record<string, string> = {}) => {
  const tty = terminal();
  tty.input.write(`${text}\n`);
  const settings = await networkSettings(folder, env, tty, NETWORKS);
  return { settings, shown: String(tty.output.read()) };
};
const ipv4 = (address: string, netmask: string, bits: number, internal = false) => ({
  ...{ family: 'IPv4', internal, address, netmask, cidr: `${address}/${bits}` },
});

it('names the private networks of the machine: no loopback, no link-local or metadata, no public one, no bridge', () => {
  const found = localNetworks({
    lo: [ipv4('127.0.0.1', '255.0.0.0', 8, true)],
    eth0: [ipv4('192.168.1.37', '255.255.255.0', 24), { ...ipv4('fd00::2', '', 64), family: 'IPv6' }],
    wlan0: [ipv4('192.168.1.40', '255.255.255.0', 24), ipv4('10.20.30.40', '255.255.240.0', 20)],
    eth1: [ipv4('169.254.169.253', '255.255.0.0', 16), ipv4('8.8.8.9', '255.255.255.0', 24)],
    eth2: [ipv4('172.32.0.1', '255.255.0.0', 16)],
    docker0: [ipv4('172.17.0.1', '255.255.0.0', 16)],
  });
  expect(found).toEqual(['192.168.1.0/24', '10.20.16.0/20']);
});

it('a yes allows the network, also at the next start without a terminal', async () => {
  const { settings, shown } = await answered('y');
  expect(shown).toContain('May the service request pictures from cameras in 192.168.1.0/24? [y/N]');
  expect(settings).toEqual(ALLOWED);
  expect(readFileSync(join(folder, 'allowed-network'), 'utf8')).toBe('192.168.1.0/24\n');
  expect(await networkSettings(folder, {}, terminal(false), [])).toEqual(ALLOWED);
});

it.each(['', 'n', 'yellow'])('%j allows nothing, and is asked no second time', async (text) => {
  expect((await answered(text)).settings).toEqual({});
  expect(await networkSettings(folder, {}, terminal(), NETWORKS, 50)).toEqual({});
});

it('there is no question without a terminal, without a network, or with OUTBOUND_ALLOW', async () => {
  expect(await networkSettings(folder, {}, terminal(false), NETWORKS)).toEqual({});
  expect(await networkSettings(folder, {}, terminal(), [])).toEqual({});
  expect(await networkSettings(folder, { OUTBOUND_ALLOW: '10.0.0.1' }, terminal(), NETWORKS)).toEqual({});
  expect(readdirSync(folder)).toEqual([]);
});

it('a start without a reader goes on, and asks again the next time', async () => {
  const tty = terminal();
  expect(await networkSettings(folder, {}, tty, NETWORKS, 50)).toEqual({});
  expect(String(tty.output.read())).toContain('no answer, so it does not');
  expect(readdirSync(folder)).toEqual([]);
});
