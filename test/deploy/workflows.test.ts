/**
 * The workflows of .github, checked without network: by GitHub's schema (check-jsonschema) and for faults of security
 * (zizmor).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';

const FOLDER = '.github/workflows';
const [schema, security, helm] = ['check-jsonschema', 'zizmor', 'helm']
  .map((name) => resolve('.venv-api/bin', name))
  .map((path) => (existsSync(path) ? path : undefined));
// `npm test` installs them, where they exist for the platform.
const withTools = schema === undefined || security === undefined ? it.skip : it;
const withHelm = helm === undefined ? it.skip : it;

/** @returns the messages of both; '' if they find no fault */
function faultsOf(file: string): string {
  const check = (program: string | undefined, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(program ?? '', [...args, file], { encoding: 'utf8' });
    return status === 0 ? '' : `${stdout}${stderr}`;
  };
  return check(schema, '--builtin-schema', 'vendor.github-workflows') + check(security, '--offline', '--no-progress');
}

/** @returns the messages about release.yml with this alteration */
function faultsWith(alter: (workflow: { jobs: { publish: { steps: [object, object] } } }) => void): string {
  const workflow = parse(readFileSync(join(FOLDER, 'release.yml'), 'utf8'));
  alter(workflow);
  const folder = mkdtempSync(join(tmpdir(), 'sd-workflow-'));
  const file = join(folder, 'altered.yml');
  writeFileSync(file, stringify(workflow));
  const faults = faultsOf(file);
  rmSync(folder, { recursive: true });
  return faults;
}

withTools.each(readdirSync(FOLDER))('%s has no fault', (file) => {
  expect(faultsOf(join(FOLDER, file))).toBe('');
});

withTools('a workflow with an unknown key is refused', () => {
  const faults = faultsWith(({ jobs }) => Object.assign(jobs.publish, { 'time-out': 10 }));
  expect(faults).toMatch(/'time-out' was unexpected/);
});

withTools('a workflow is refused whose action is not pinned, or whose script has a value of the event', () => {
  const faults = faultsWith(({ jobs: { publish } }) => {
    Object.assign(publish.steps[0], { uses: 'actions/download-artifact@v4' });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of the workflow
    Object.assign(publish.steps[1], { run: 'echo ${{ github.head_ref }}' });
  });
  expect(faults).toMatch(
    /error\[unpinned-uses\][\s\S]*error\[template-injection\]|error\[template-injection\][\s\S]*error\[unpinned-uses\]/,
  );
});

withHelm('the release packs the chart under the version of its tag', () => {
  const { jobs } = parse(readFileSync(join(FOLDER, 'release.yml'), 'utf8'));
  const { run } = jobs.chart.steps.find(({ id }: { id?: string }) => id === 'chart');
  const folder = mkdtempSync(join(tmpdir(), 'sd-chart-'));
  // The push is left out: it needs a registry.
  const script = run
    .replace(/^helm push .*$/m, "echo 'Digest: sha256:12' > pushed")
    .replaceAll('helm package', `${helm} package`);
  const { status } = spawnSync('bash', ['-eo', 'pipefail', '-c', script.replace('deploy/', `${resolve('deploy')}/`)], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, TAG: 'v9.8.7', REPOSITORY: 'Some/Repo', GITHUB_OUTPUT: join(folder, 'output') },
  });
  expect(status).toBe(0);
  expect(readdirSync(join(folder, 'chart'))).toEqual(['scenedelta-9.8.7.tgz']);
  expect(readFileSync(join(folder, 'output'), 'utf8')).toBe(
    'name=ghcr.io/some/repo/charts/scenedelta\ndigest=sha256:12\n',
  );
  rmSync(folder, { recursive: true });
});
