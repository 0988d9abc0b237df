/** The image for a trial and the GPU variant of the compose file, as far as they can be checked without Docker. */
import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

it('the image for a trial copies files that exist, as the user of the image, and starts them', () => {
  const text = readFileSync('deploy/Dockerfile.trial', 'utf8');
  const sources = [...text.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, files = '']) => files.split(' '));
  expect(sources.filter((file) => !existsSync(file))).toEqual([]);
  expect(sources).toEqual(expect.arrayContaining(['bin', 'scripts/up.mjs', 'scripts/lib', 'examples/before.jpg']));
  const [users, entry] = [
    [...text.matchAll(/^USER (\S+)$/gm)].map(([, user]) => user),
    /^ENTRYPOINT (.+)$/m.exec(text),
  ];
  expect([users, JSON.parse(entry?.[1] ?? '')]).toEqual([
    ['root', 'node'],
    ['node', '/app/scripts/up.mjs'],
  ]);
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
