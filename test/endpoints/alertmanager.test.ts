/** The format of Alertmanager against a real Alertmanager. Without it the tests are skipped (npm test gets it). */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findAlertmanager } from '../../scripts/lib/alertmanager.mjs';
import type { EndpointMessage } from '../../src/endpoints/message.js';
import { render } from '../../src/endpoints/render.js';
import { endpointMessage } from '../helpers/endpoints.js';
import { eventually } from '../helpers/eventually.js';
import { freePort } from '../helpers/free-port.js';
import { textOf } from '../helpers/strict-receivers.js';

const program = findAlertmanager();
const describeWithIt = program === undefined ? describe.skip : describe;

let folder: string;
let server: ChildProcess;
let url: string;

beforeAll(async () => {
  if (program === undefined) return;
  folder = await mkdtemp(join(tmpdir(), 'sd-alertmanager-'));
  url = `http://127.0.0.1:${await freePort()}`;
  await writeFile(join(folder, 'config.yml'), 'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n');
  const options = ['--config.file=config.yml', '--storage.path=data', '--cluster.listen-address='];
  server = spawn(program.server, [...options, `--web.listen-address=${new URL(url).host}`], {
    cwd: folder,
    stdio: 'ignore',
  });
  await eventually(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200), 15_000);
}, 30_000);
afterAll(async () => {
  if (program === undefined) return;
  server.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const send = async (message: EndpointMessage) => {
  const request = render('alertmanager', message, { url, authorization: null });
  const answer = await fetch(request.url, { method: 'POST', headers: request.headers, body: textOf(request) });
  expect([answer.status, await answer.text()]).toEqual([200, '']);
};
/** @returns the firing alerts, as amtool lists them */
const firing = async (): Promise<{ labels: Record<string, string>; annotations: Record<string, string> }[]> => {
  const args = ['--alertmanager.url', url, 'alert', 'query', '--output', 'json'];
  return JSON.parse((await promisify(execFile)(program?.amtool ?? '', args)).stdout);
};
const severities = async (change: string) =>
  (await firing()).filter(({ labels }) => labels.change === change).map(({ labels }) => labels.severity);

describeWithIt('Alertmanager', () => {
  const at = { now: Date.now(), cameraName: 'Gate "3"' };

  it('fires with the change and is resolved with its end', async () => {
    const opened = endpointMessage('change.opened', { name: 'a', zone: 'door' }, at);
    const { id } = opened.subject;
    await send(opened);
    await eventually(async () => expect(await severities(id)).toEqual(['medium']));
    const [alert] = (await firing()).filter(({ labels }) => labels.change === id);
    expect(alert?.labels).toEqual({
      ...{ alertname: 'SceneChange', camera: 'gate', change: id, kind: 'appear', severity: 'medium', zone: 'door' },
    });
    expect(alert?.annotations).toMatchObject({ summary: 'Gate "3": Change', description: 'a car has appeared' });
    await send(endpointMessage('change.reverted', { name: 'a', zone: 'door' }, { ...at, now: Date.now() }));
    await eventually(async () => expect(await severities(id)).toEqual([]));
  });

  it('fires once at the new severity when the change becomes more severe', async () => {
    const opened = endpointMessage('change.opened', { name: 'b' }, at);
    const { id } = opened.subject;
    await send(opened);
    await eventually(async () => expect(await severities(id)).toEqual(['medium']));
    await send(endpointMessage('change.escalated', { name: 'b', severity: 'high' }, { ...at, now: Date.now() }));
    await eventually(async () => expect(await severities(id)).toEqual(['high']));
    await send(endpointMessage('change.acknowledged', { name: 'b', severity: 'high' }, { ...at, now: Date.now() }));
    await eventually(async () => expect(await severities(id)).toEqual([]));
  });

  it('takes a change of a camera whose clock is ahead', async () => {
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    const message = endpointMessage('change.opened', { name: 'c', confirmed_at: ahead, last_seen: ahead }, at);
    await send(message);
    await eventually(async () => expect(await severities(message.subject.id)).toEqual(['medium']));
  });
});
