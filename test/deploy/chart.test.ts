/**
 * The Helm chart: rendered by Helm from three files of values, compared with golden renderings, and checked against the
 * schemas of Kubernetes, KEDA and the Prometheus operator. UPDATE_GOLDEN=1 writes the golden files.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { describeConfig } from '../../src/process/config.js';

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: tests read into any kind of resource
  readonly [member: string]: any;
}

const CHART = 'deploy/helm/scenedelta';
const SCENARIOS = ['one-node', 'many-cameras', 'gpu'];
/** Oldest and newest version of Kubernetes that the chart is checked for. */
const KUBERNETES = ['1.27', '1.37'];

const tool = (name: string) => [resolve('.venv-api/bin', name)].find(existsSync);
const helm = tool('helm');
const validator = tool('kubernetes-validate');
// `npm test` installs both, where they exist for the platform.
const withHelm = helm === undefined ? it.skip : it;

const run = (program: string | undefined, args: readonly string[]): SpawnSyncReturns<string> =>
  spawnSync(program ?? '', args, { encoding: 'utf8' });
const template = (...args: string[]) =>
  run(helm, ['template', 'sd', CHART, '--namespace', 'cameras', '--kube-version', KUBERNETES[0] ?? '', ...args]);
const set = (...values: string[]) => template(...['secretName=sd', ...values].flatMap((value) => ['--set', value]));
const resourcesOf = (yaml: string): Resource[] =>
  parseAllDocuments(yaml)
    .map((document) => document.toJS())
    .filter((resource) => resource !== null);
const goldenOf = (scenario: string) => `test/deploy/chart/${scenario}.golden.yaml`;
const valuesOf = (scenario: string) => ['-f', `test/deploy/chart/${scenario}.values.yaml`];

describe.each(SCENARIOS)('the values %s', (scenario) => {
  withHelm('render as the golden file', () => {
    const { status, stdout, stderr } = template(...valuesOf(scenario));
    expect([status, stderr.includes('Error')]).toEqual([0, false]);
    const golden = goldenOf(scenario);
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(golden, stdout);
    expect(stdout).toBe(readFileSync(golden, 'utf8'));
  });

  withHelm.each(KUBERNETES)('fit the schemas of Kubernetes %s', (version) => {
    const golden = goldenOf(scenario);
    const { status, stdout, stderr } = run(validator, ['--kubernetes-version', version, '--strict', golden]);
    expect([status, stderr]).toEqual([0, '']);
    const resources = resourcesOf(readFileSync(golden, 'utf8'));
    const foreign = resources.filter(({ apiVersion }) => /keda|coreos/.test(apiVersion)).length;
    expect(stdout.match(/passed for resource/g)).toHaveLength(resources.length - foreign);
  });

  withHelm('fit the schemas of KEDA and of the Prometheus operator', () => {
    const { stdout } = template(...valuesOf(scenario));
    for (const resource of resourcesOf(stdout)) {
      const model = foreignModel(resource);
      expect(() => model?.validate()).not.toThrow();
    }
  });
});

/** @returns undefined: a resource of Kubernetes itself */
function foreignModel(resource: Resource): { validate(): void } | undefined {
  const packages = { 'keda.sh': 'keda', 'monitoring.coreos.com': 'prometheus-operator' } as Record<string, string>;
  const [group = '', version] = resource.apiVersion.split('/');
  if (packages[group] === undefined) return undefined;
  const models = createRequire(import.meta.url)(
    `@kubernetes-models/${packages[group]}/${group}/${version}/${resource.kind}`,
  );
  return new models[resource.kind](resource);
}

withHelm('a ScaledObject that KEDA would refuse is noticed', () => {
  const [scaled] = resourcesOf(set('worker.keda.enabled=true').stdout).filter(({ kind }) => kind === 'ScaledObject');
  expect(() => foreignModel({ ...(scaled as Resource), spec: { triggers: [] } })?.validate()).toThrow(/scaleTargetRef/);
});

withHelm.each([
  ['settings.RATE_LIMITS=3', /settings.*RATE_LIMITS/],
  ['settings.RATE_LIMIT=-3', /settings.RATE_LIMIT\b/],
  ['settings.LOGIN_SECRET=abc', /settings.*LOGIN_SECRET/],
  ['worker.replica=2', /worker.*replica\b/],
  ['frames.storage=nfs', /frames.storage/],
  ['frames.storage=s3', /frames.s3.bucket/],
  ['secretName=', /secretName/],
  ['mqtt.enabled=true', /mqtt.url/],
  ['ingress.enabled=true', /ingress\.host/],
  ['mqtt.url=http://broker', /mqtt.url/],
])('%s fails with the name of the value', (value, message) => {
  const { status, stderr } = set(value);
  expect(status).toBe(1);
  expect(stderr).toMatch(message);
});

describe('the network policy of a worker', () => {
  const egress = (...values: string[]) =>
    resourcesOf(set(...values).stdout).find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name.endsWith('-worker'),
    )?.spec.egress;

  withHelm('lets it reach what OUTBOUND_ALLOW names, at the port that it names, and no other private address', () => {
    const rules = egress('settings.OUTBOUND_ALLOW=10.0.0.0/24\\,10.1.1.1:554\\,[fd00::7]:25\\,fd00::8');
    expect(rules.slice(-4)).toEqual([
      { to: [{ ipBlock: { cidr: '10.0.0.0/24' } }] },
      { to: [{ ipBlock: { cidr: '10.1.1.1/32' } }], ports: [{ port: 554, protocol: 'TCP' }] },
      { to: [{ ipBlock: { cidr: 'fd00::7/128' } }], ports: [{ port: 25, protocol: 'TCP' }] },
      { to: [{ ipBlock: { cidr: 'fd00::8/128' } }] },
    ]);
    const [, , publicAddresses] = egress();
    expect(publicAddresses.to[0].ipBlock.except).toEqual(
      expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '127.0.0.0/8', '192.168.0.0/16', '172.16.0.0/12']),
    );
  });
});

/** Addresses of other hosts in the environment of a pod: values with a scheme and a public name. */
const addressesOf = ({ spec }: Resource): string[] =>
  (spec.template.spec.containers as { env?: { name: string; value?: string }[] }[])
    .flatMap(({ env = [] }) => env)
    .filter(({ name, value = '' }) => name !== 'PUBLIC_URL' && /^[a-z0-9+]+:\/\/[^/]*\./.test(value))
    .map(({ name }) => name);

it.each(SCENARIOS)('each pod of the values %s reaches the addresses that they name', (scenario) => {
  const resources = resourcesOf(readFileSync(goldenOf(scenario), 'utf8'));
  const policies = resources.filter(({ kind }) => kind === 'NetworkPolicy');
  const shut = resources
    .filter((resource) => resource.kind === 'Deployment' && addressesOf(resource).length > 0)
    .filter(({ metadata }) => {
      const egress = policies.find((policy) => policy.metadata.name === metadata.name)?.spec.egress;
      return egress !== undefined && !JSON.stringify(egress).includes('0.0.0.0/0');
    });
  expect(shut.map((resource) => [resource.metadata.name, addressesOf(resource)])).toEqual([]);
});

withHelm('no container runs as root, writes to its image, or has a token of the cluster', () => {
  for (const scenario of SCENARIOS) {
    for (const { kind, spec } of resourcesOf(template(...valuesOf(scenario)).stdout)) {
      const pod = kind === 'Pod' ? spec : spec?.template?.spec;
      if (pod === undefined) continue;
      expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
      for (const { securityContext } of pod.containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  }
});

withHelm('the dashboard and the settings of Redis are the files of deploy', () => {
  const maps = resourcesOf(set('dashboard.enabled=true').stdout).filter(({ kind }) => kind === 'ConfigMap');
  const dataOf = (name: string) => maps.find(({ metadata }) => metadata.name === `sd-scenedelta-${name}`)?.data;
  expect(JSON.parse(dataOf('dashboard')['scenedelta.json'])).toEqual(
    JSON.parse(readFileSync('deploy/grafana/dashboards/scenedelta.json', 'utf8')),
  );
  expect(dataOf('redis')['redis.conf'].trim()).toBe(readFileSync('deploy/redis.conf', 'utf8').trim());
});

it('the chart has the version of the package, and knows its settings', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(parse(readFileSync(`${CHART}/Chart.yaml`, 'utf8')).appVersion).toBe(version);
  const { properties } = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8')).properties.settings;
  const known = new Map(describeConfig().map((setting) => [setting.env, setting.describe]));
  for (const [name, { description }] of Object.entries<{ description: string }>(properties)) {
    expect([name, description]).toEqual([name, known.get(name)]);
  }
});
