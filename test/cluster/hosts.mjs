/** Hosts of test:cluster: network namespaces on one bridge, each with a link that can be cut. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

const ip = (...args) => execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
const can = (...args) => spawnSync(args[0], args.slice(1), { stdio: 'ignore' }).status === 0;

/** Namespaces would outlive a run that is stopped by them. */
const SIGNALS = ['SIGINT', 'SIGTERM'];

/** @returns whether this user and this kernel can make namespaces with links */
export function canMakeHosts() {
  const name = `sdc${process.pid}`;
  const isMade =
    can('ip', 'netns', 'add', name) &&
    can('ip', 'link', 'add', `${name}v`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  can('ip', 'netns', 'del', name);
  return isMade;
}

/**
 * @param {string[]} names of the hosts; @param {string} folder of the logs
 * @returns addresses by name, and what can be done to hosts
 */
export function makeHosts(names, folder) {
  const bridge = `sdb${process.pid % 10_000}`;
  const spaces = Object.fromEntries(names.map((name, i) => [name, `${bridge}-${i}`]));
  const subnet = `10.${64 + (process.pid % 64)}.7`;
  const addresses = Object.fromEntries(names.map((name, i) => [name, `${subnet}.${2 + i}`]));
  const children = [];
  ip('link', 'add', bridge, 'type', 'bridge');
  ip('addr', 'add', `${subnet}.1/24`, 'dev', bridge);
  ip('link', 'set', bridge, 'up');
  for (const [i, name] of names.entries()) {
    const [space, link] = [spaces[name], `${bridge}v${i}`];
    ip('netns', 'add', space);
    ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space);
    ip('link', 'set', link, 'master', bridge, 'up');
    ip('-n', space, 'addr', 'add', `${addresses[name]}/24`, 'dev', 'eth0');
    ip('-n', space, 'link', 'set', 'eth0', 'up');
    ip('-n', space, 'link', 'set', 'lo', 'up');
  }
  const removeAll = () => {
    for (const child of children) child.kill('SIGKILL');
    // A namespace, and its link, live as long as its processes.
    for (const i of names.keys()) can('ip', 'link', 'del', `${bridge}v${i}`);
    for (const space of Object.values(spaces)) can('ip', 'netns', 'del', space);
    can('ip', 'link', 'del', bridge);
  };
  const onSignal = () => {
    removeAll();
    process.exit(1);
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  return {
    addresses,
    /** Runs a program on the host; its output goes to NAME.log. A program of Node may send messages. */
    run(name, program, args, env = {}) {
      const log = openSync(join(folder, `${name}.log`), 'a');
      const command = ['netns', 'exec', spaces[name], program, ...args];
      const child = spawn('ip', command, { stdio: ['ignore', log, log, 'ipc'], env: { ...process.env, ...env } });
      closeSync(log);
      children.push(child);
      return child;
    },
    /** The switch drops everything of the host, which sees its own link as up: no connection is closed. */
    cut: (name) => ip('link', 'set', `${bridge}v${names.indexOf(name)}`, 'nomaster'),
    mend: (name) => ip('link', 'set', `${bridge}v${names.indexOf(name)}`, 'master', bridge),
    remove() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      removeAll();
    },
  };
}
