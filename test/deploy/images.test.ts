/** The images and the GPU variant of the compose file, as far as they can be checked without Docker. */
import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

const context = readFileSync('.dockerignore', 'utf8').match(/(?<=^!).+$/gm) ?? [];

it.each([
  ['Dockerfile', 'bin/scenedelta.js', ['bin', 'scripts/lib']],
  ['deploy/Dockerfile.cuda', 'bin/scenedelta.js', ['bin', 'scripts/lib']],
  ['deploy/Dockerfile.trial', 'scripts/up.mjs', ['scripts/up.mjs', 'examples/before.jpg']],
])('%s copies files that Docker is shown, and starts %s as the user of the image', (file, entry, parts) => {
  const text = readFileSync(file, 'utf8');
  const sources = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files = '']) => files.split(' '));
  expect(sources.filter((source) => !existsSync(source))).toEqual([]);
  const shown = (source: string) => context.some((path) => source === path || source.startsWith(`${path}/`));
  expect(sources.filter((source) => !shown(source))).toEqual([]);
  expect(sources).toEqual(expect.arrayContaining(parts));
  expect(text.match(/(?<=^USER )\S+$/gm)?.at(-1)).toMatch(/^(node|ubuntu)$/);
  const program: string[] = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(text)?.[1] ?? '');
  expect(program).toEqual(['node', `/app/${entry}`]);
});

it('compose.cuda.yaml reserves a GPU for the worker of compose.yaml, and names the image of CUDA', () => {
  const base = parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true });
  const { services } = parse(readFileSync('deploy/compose.cuda.yaml', 'utf8'));
  expect(Object.keys(services).filter((name) => base.services[name] === undefined)).toEqual([]);
  const { worker } = services;
  expect(existsSync(worker.build.dockerfile)).toBe(true);
  const [device] = worker.deploy.resources.reservations.devices;
  expect(device).toMatchObject({ driver: 'nvidia', capabilities: ['gpu'] });
  expect(device.device_ids).toEqual([expect.stringContaining('NVIDIA_GPU:-0')]);
  expect(worker.environment).toEqual({ DEVICE: 'cuda:0', STRICT_DEVICE: 'on' });
});
