/** Supply chain: the bill of materials, the licences in the images, the limits of the containers. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { satisfies } from 'semver';
import { parse } from 'yaml';
import { describeConfig } from '../../src/process/config.js';

interface Component {
  readonly group?: string;
  readonly name: string;
}
const production = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).dependencies);

it('npm run sbom writes a CycloneDX document that names every production dependency', () => {
  const text = execFileSync('npm', ['run', '--silent', 'sbom'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const bom = JSON.parse(text);
  expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
  const names = bom.components.map(({ group, name }: Component) => (group === undefined ? name : `${group}/${name}`));
  expect(names).toEqual(expect.arrayContaining(production));
  expect(names).not.toContain('jest');
}, 60_000);

it('write-notices.mjs collects the licence of every production dependency, and of the libvips inside sharp', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sd-notices-'));
  const file = join(folder, 'notices.txt');
  execFileSync(process.execPath, ['scripts/write-notices.mjs', file]);
  const text = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  for (const name of production) expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+`, 'm'));
  expect(text).toMatch(/^Licence: LGPL-3.0-or-later$/m);
  expect(text).not.toMatch(/^jest \d/m);
});

it.each(readdirSync('.github/workflows'))('%s names every action by its commit', (file) => {
  const text = readFileSync(join('.github/workflows', file), 'utf8');
  const actions = [...text.matchAll(/uses: (\S+)/g)].map(([, action]) => action);
  expect(actions.filter((action) => !/^\.\/|@[0-9a-f]{40}$/.test(action ?? ''))).toEqual([]);
});

it.each(['Dockerfile', 'deploy/Dockerfile.cuda'])('%s puts the notices into the image', (file) => {
  expect(readFileSync(file, 'utf8')).toMatch(/COPY --from=build .*THIRD_PARTY_NOTICES\.txt/);
});

it.each(['Dockerfile', 'deploy/Dockerfile.cuda'])(
  '%s has ffmpeg for workers, unless FFMPEG_PACKAGE is empty',
  (file) => {
    const [, run = 'exit 9'] =
      /^ARG FFMPEG_PACKAGE=ffmpeg\nRUN ((?:.*\\\n)*.*)\n/m.exec(readFileSync(file, 'utf8')) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'sd-apt-'));
    for (const program of ['apt-get', 'rm']) {
      writeFileSync(join(folder, program), `#!/bin/sh\necho ${program} "$@"\n`, { mode: 0o700 });
    }
    const build = (name: string) =>
      spawnSync('/bin/sh', ['-c', run], { encoding: 'utf8', env: { PATH: folder, FFMPEG_PACKAGE: name } });
    const installed = 'apt-get update\napt-get install -y --no-install-recommends ffmpeg\nrm -rf';
    expect(build('ffmpeg')).toMatchObject({ status: 0, stdout: expect.stringContaining(installed) });
    expect(build('')).toMatchObject({ status: 0, stdout: '' });
    rmSync(folder, { recursive: true });
  },
);

it('Dockerfile.cuda downloads the provider of the version of onnxruntime-node, by its hash', () => {
  const [, version] =
    /^RUN echo 'onnxruntime-gpu==([\d.]+) \\\n +--hash=sha256:[0-9a-f]{64}' > \S+ \\\n && pip download .*--require-hashes /m.exec(
      readFileSync('deploy/Dockerfile.cuda', 'utf8'),
    ) ?? [];
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(version).toBe(dependencies['onnxruntime-node']);
});

describe('compose.yaml', () => {
  const { services } = parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true });

  it.each(['api', 'worker', 'mqtt', 'redis', 'prometheus', 'grafana'])(
    '%s has limits of memory and processes, and no capabilities',
    (name) => {
      const service = services[name];
      expect(service.deploy.resources.limits).toEqual({
        memory: expect.any(String),
        pids: expect.any(Number),
      });
      expect(service.cap_drop).toEqual(['ALL']);
      expect(service.read_only).toBe(true);
    },
  );

  it('every setting that it passes on exists', () => {
    const known = describeConfig().map(({ env }) => env);
    const { WORKER_METRICS_PORT, ...shared } = services.worker.environment;
    expect(WORKER_METRICS_PORT).toBe('9090');
    expect(Object.keys(shared).filter((name) => !known.includes(name))).toEqual([]);
    expect(Object.keys(shared)).toEqual(expect.arrayContaining(['LOGIN_SECRET', 'METRICS_AUTH']));
    const client = readFileSync('clients/src/mqtt/command.ts', 'utf8');
    const ofPublisher = Object.keys(services.mqtt.environment).filter((name) => name !== 'DATA_DIR');
    expect(ofPublisher.filter((name) => !client.includes(name))).toEqual([]);
    expect(ofPublisher).toEqual(expect.arrayContaining(['MQTT_URL', 'MQTT_PASSWORD', 'MQTT_API_KEY']));
  });

  it('Redis asks for a password, which the others have', () => {
    expect(services.redis.command).toContain('--requirepass');
    for (const name of ['api', 'worker']) expect(services[name].environment.REDIS_URL).toMatch(/REDIS_PASSWORD/);
  });
});

it('the proxy with TLS does not pass metrics on', () => {
  const text = readFileSync('deploy/Caddyfile', 'utf8');
  expect(text).toMatch(/@inside path \/metrics \/internal\/\*\n\trespond @inside 404/);
});

it('every package of the lock file runs on the oldest Node that package.json names', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  const oldest = engines.node.replace('>=', '');
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const refused = Object.entries<{ engines?: { node?: string }; optional?: boolean }>(packages)
    .filter(([, { engines: asked, optional }]) => asked?.node !== undefined && optional !== true)
    .filter(([, { engines: asked }]) => !satisfies(`${oldest}.0`, asked?.node ?? ''))
    .map(([path]) => path);
  // engine-strict (.npmrc) would refuse the installation.
  expect(refused).toEqual([]);
});

describe('.github/workflows/release.yml', () => {
  const text = readFileSync('.github/workflows/release.yml', 'utf8');
  const { jobs, permissions } = parse(text);
  const steps: { uses?: string; run?: string }[] = Object.values<{ steps: [] }>(jobs).flatMap((job) => job.steps);

  it('calls scripts and builds files that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const called = [...text.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name]) => name as string);
    expect(called.length).toBeGreaterThan(2);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(called));
    for (const { file } of jobs.images.strategy.matrix.include) expect(readFileSync(file, 'utf8')).toMatch(/^FROM /m);
  });

  it('gives each job the rights that it needs alone, and attests package, images and chart', () => {
    expect(permissions).toEqual({});
    expect(jobs.publish.permissions).toEqual({ contents: 'write' });
    const attests = ({ uses = '' }) => uses.startsWith('actions/attest');
    expect(jobs.package.steps.filter(attests)).toHaveLength(2);
    expect(jobs.images.steps.filter(attests)).toHaveLength(1);
    expect(jobs.images.steps.find(({ id }: { id?: string }) => id === 'build').with).toMatchObject({
      sbom: true,
      provenance: 'mode=max',
    });
    expect(jobs.chart.steps.filter(attests)).toHaveLength(1);
  });

  it('puts no value of the event into a script', () => {
    expect(steps.filter(({ run = '' }) => run.includes('${{'))).toEqual([]);
  });
});
