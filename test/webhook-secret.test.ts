import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadWebhookSecret } from '../src/webhook-secret.js';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sd-secret-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

describe('loadWebhookSecret', () => {
  it('makes one secret, however many processes ask at once, and keeps it to its owner', async () => {
    const all = await Promise.all(
      Array.from({ length: 8 }, () => loadWebhookSecret({ webhookSecret: null, dataDir })),
    );
    expect(new Set(all).size).toBe(1);
    expect(all[0]).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await readdir(dataDir)).toEqual(['webhook.secret']);
    expect((await stat(join(dataDir, 'webhook.secret'))).mode & 0o777).toBe(0o600);
    expect(await loadWebhookSecret({ webhookSecret: null, dataDir })).toBe(all[0]);
  });

  it('takes the one that is set, and writes nothing', async () => {
    const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    expect(await loadWebhookSecret({ webhookSecret, dataDir })).toBe(webhookSecret);
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('refuses one of another form without repeating it', async () => {
    await writeFile(join(dataDir, 'webhook.secret'), 'hunter2');
    const loading = loadWebhookSecret({ webhookSecret: null, dataDir });
    await expect(loading).rejects.toMatchObject({ code: 'invalid-request', field: 'WEBHOOK_SECRET' });
    await expect(loading).rejects.not.toThrow('hunter2');
    await expect(loadWebhookSecret({ webhookSecret: 'short', dataDir })).rejects.toThrow('expected');
  });
});
