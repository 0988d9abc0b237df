/**
 * The chart under the rules of OpenShift's restricted-v2: no pod chooses its account, none is privileged, and volumes
 * are of the kinds that it allows (`oc describe scc restricted-v2`).
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';

const CHART = 'deploy/helm/scenedelta';
const helm = [resolve('.venv-api/bin/helm')].find(existsSync);
// `npm test` installs it, where it exists for the platform.
const withHelm = helm === undefined ? it.skip : it;
const ALL = ['mqtt.enabled=true', 'mqtt.url=mqtt://broker', 'frames.volume.size=1Gi'];
const VOLUMES = ['configMap', 'emptyDir', 'persistentVolumeClaim', 'projected', 'secret', 'downwardAPI', 'csi'];

// biome-ignore lint/suspicious/noExplicitAny: tests read into any kind of resource
type PodSpec = any;

/** @returns the pods of all resources, by their names */
function podsOf(...args: string[]): [string, PodSpec][] {
  const set = ['secretName=sd', ...ALL].flatMap((value) => ['--set', value]);
  const { status, stdout, stderr } = spawnSync(helm ?? '', ['template', 'sd', CHART, ...args, ...set], {
    encoding: 'utf8',
  });
  expect([status, stderr.includes('Error')]).toEqual([0, false]);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS())
    .filter((resource) => resource?.spec?.template?.spec !== undefined || resource?.kind === 'Pod')
    .map((resource) => [resource.metadata.name, resource.spec.template?.spec ?? resource.spec]);
}
const OPENSHIFT = ['-f', `${CHART}/values-openshift.yaml`];
const idsOf = ({ runAsUser, runAsGroup, fsGroup }: PodSpec) => [runAsUser, runAsGroup, fsGroup];

withHelm('every pod keeps the rules of restricted-v2', () => {
  const pods = podsOf(...OPENSHIFT);
  expect(pods.map(([name]) => name.replace('sd-scenedelta-', '')).sort()).toEqual(
    ['api', 'mqtt', 'redis', 'test', 'worker'].sort(),
  );
  for (const [name, spec] of pods) {
    const { securityContext: pod, volumes = [], containers, initContainers = [] } = spec;
    expect([name, ...idsOf(pod)]).toEqual([name, undefined, undefined, undefined]);
    expect([pod.runAsNonRoot, pod.seccompProfile.type, pod.supplementalGroups]).toEqual([
      true,
      'RuntimeDefault',
      undefined,
    ]);
    expect([spec.hostNetwork, spec.hostPID, spec.hostIPC]).toEqual([undefined, undefined, undefined]);
    for (const { name: _name, ...kind } of volumes) expect(VOLUMES).toEqual(expect.arrayContaining(Object.keys(kind)));
    for (const { securityContext: one, ports = [] } of [...containers, ...initContainers]) {
      expect(one).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(ports.filter(({ hostPort }: { hostPort?: number }) => hostPort !== undefined)).toEqual([]);
    }
  }
});

withHelm('elsewhere the pods have the accounts of their images, or those of the values', () => {
  const ids = (...args: string[]) =>
    Object.fromEntries(podsOf(...args).map(([name, spec]) => [name, idsOf(spec.securityContext)]));
  expect(ids()).toMatchObject({
    'sd-scenedelta-api': [1000, 1000, 1000],
    'sd-scenedelta-redis': [999, 999, 999],
    'sd-scenedelta-test': [1000, 1000, 1000],
  });
  expect(ids('--set', 'podIds.runAsUser=2000')['sd-scenedelta-worker']).toEqual([2000, 1000, 1000]);
});

withHelm('helm lint finds no fault', () => {
  for (const args of [[], OPENSHIFT]) {
    const { status, stdout } = spawnSync(helm ?? '', ['lint', '--strict', CHART, ...args, '--set', 'secretName=sd'], {
      encoding: 'utf8',
    });
    expect([status, stdout.includes('0 chart(s) failed')]).toEqual([0, true]);
  }
});
