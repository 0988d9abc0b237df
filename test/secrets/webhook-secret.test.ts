import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadWebhookSecret } from '../../src/secrets/webhook-secret.js';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sd-secret-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

describe('loadWebhookSecret', () => {
  it('creates one secret for concurrent processes, readable by its owner only', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => loadWebhookSecret({ webhookSecret: null, dataDir })));
    expect(new Set(all).size).toBe(1);
    expect(all[0]).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await readdir(dataDir)).toEqual(['webhook.secret']);
    expect((await stat(join(dataDir, 'webhook.secret'))).mode & 0o777).toBe(0o600);
    expect(await loadWebhookSecret({ webhookSecret: null, dataDir })).toBe(all[0]);
  });

  it('uses WEBHOOK_SECRET if it is set, and writes nothing', async () => {
    const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    expect(await loadWebhookSecret({ webhookSecret, dataDir })).toBe(webhookSecret);
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('refuses a secret of another form without repeating it', async () => {
    await writeFile(join(dataDir, 'webhook.secret'), 'hunter2');
    const loading = loadWebhookSecret({ webhookSecret: null, dataDir });
    await expect(loading).rejects.toMatchObject({ code: 'invalid-request', field: 'WEBHOOK_SECRET' });
    await expect(loading).rejects.not.toThrow('hunter2');
    await expect(loadWebhookSecret({ webhookSecret: 'short', dataDir })).rejects.toThrow('expected');
  });
});
