/**
 * The question of a first start in a terminal: may the service reach the cameras of this machine's network? The answer
 * is kept in the data folder. Settings in the environment go before it.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';

const FILE = 'allowed-network';
/** Networks of containers and virtual machines, which have no cameras. */
const VIRTUAL = /^(docker|br-|veth|virbr|vmnet|vbox|cni|flannel|podman|lxc|utun)/i;
const PRIVATE = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/;
/** A start without a reader must not wait for long. */
const WAIT_MS = 60_000;

/** @returns the private IPv4 networks of a machine, e.g. ['192.168.1.0/24']: no loopback and no link-local addresses */
export function localNetworks(interfaces = networkInterfaces()) {
  const found = Object.entries(interfaces)
    .filter(([name]) => !VIRTUAL.test(name))
    .flatMap(([, addresses]) => addresses)
    .filter(({ family, internal, address }) => family === 'IPv4' && !internal && PRIVATE.test(address))
    .map(({ address, netmask, cidr }) => {
      const mask = netmask.split('.');
      const network = address.split('.').map((part, i) => Number(part) & Number(mask[i]));
      return `${network.join('.')}/${cidr.split('/')[1]}`;
    });
  return [...new Set(found)];
}

/**
 * @param {{ input: NodeJS.ReadStream, output: NodeJS.WriteStream }} terminal
 * @returns {Promise<Record<string, string>>} the settings that the answer stands for; none if they are set, or
 *   without a terminal
 */
export async function networkSettings(dataDir, env, terminal, networks = localNetworks(), waitMs = WAIT_MS) {
  const file = join(dataDir, FILE);
  if (env.OUTBOUND_ALLOW) return {};
  if (existsSync(file)) return settingsFor(readFileSync(file, 'utf8').trim());
  if (networks.length === 0 || !terminal.input.isTTY || !terminal.output.isTTY) return {};
  const lines = createInterface(terminal);
  // In a terminal readline takes Ctrl-C for itself.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const given = await lines.question(
      `\nMay the service request pictures from cameras in ${networks.join(', ')}? [y/N] `,
      { signal: AbortSignal.timeout(waitMs) },
    );
    const allowed = /^y(es)?$/i.test(given.trim()) ? networks.join(',') : '';
    writeFileSync(file, `${allowed}\n`, { mode: 0o600 });
    return settingsFor(allowed);
  } catch (error) {
    if (error.name !== 'AbortError') throw error;
    terminal.output.write('no answer, so it does not\n');
    return {};
  } finally {
    lines.close();
  }
}

const settingsFor = (allowed) => (allowed === '' ? {} : { OUTBOUND_ALLOW: allowed });
