/** A new user with 202 cameras, wide and narrow, while Redis stops and starts: an API process on a Redis of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { describeInBrowser, useBrowser } from '../helpers/browser.js';
import { eventually } from '../helpers/eventually.js';
import { freePort } from '../helpers/free-port.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';
import { newDataDir } from '../helpers/service.js';

const CAMERAS = Array.from({ length: 202 }, (_, i) => `yard-${String(i).padStart(3, '0')}`);
const VIEWS = ['Try', 'Review', 'Cameras', 'Footage', 'Endpoints', 'System'];
const START_LIMIT_MS = 30_000;

const open = useBrowser();
let redis: TestRedis;
let api: ChildProcess;
let url: string;
const dataDir = newDataDir();

describeInBrowser('The console with 202 cameras', () => {
  beforeAll(async () => {
    redis = await startRedis();
    const port = String(await freePort());
    url = `http://127.0.0.1:${port}`;
    const settings = { PORT: port, DATA_DIR: dataDir, REDIS_URL: redis.url, AUTH: 'off', RATE_LIMIT: '0' };
    const env = { ...process.env, ...settings, LOG_LEVEL: 'silent' };
    api = spawn(process.execPath, ['dist/api/main.js'], { env, stdio: 'ignore' });
    const ready = async () => expect((await fetch(`${url}/readyz?exclude=workers`)).status).toBe(200);
    await eventually(ready, START_LIMIT_MS);
    const headers = { 'content-type': 'application/json' };
    const put = (id: string) => fetch(`${url}/v1/cameras/${id}`, { method: 'PUT', headers, body: '{}' });
    const answers = await Promise.all(CAMERAS.map(put));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  }, 60_000);
  afterAll(async () => {
    const ended = once(api, 'close');
    api.kill('SIGKILL');
    await ended;
    await redis.stop();
    rmSync(dataDir, { recursive: true });
  });

  it.each([1280, 390])('fits each page, and goes on where it was when Redis is back, at %d px', async (width) => {
    const { page, errors } = await open({ viewport: { width, height: 900 } });
    await page.goto(url);
    for (const view of VIEWS) {
      const navigation = page.getByRole('navigation', { name: 'Pages' });
      const link = navigation.getByRole('link', { name: view });
      await navigation.getByRole('link').first().waitFor();
      if (!(await link.isVisible())) await navigation.getByRole('button', { name: 'More' }).click();
      await link.click();
      await eventually(async () => expect(await page.title()).toBe(`${view} · scenedelta`));
      await page.getByRole('heading').first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    }
    await page.getByRole('link', { name: 'Cameras' }).click();
    const cards = page.locator('.camera-card');
    await eventually(async () => expect(await cards.count()).toBe(100));
    await redis.kill9();
    const banner = page.getByText('its store (Redis) does not answer');
    await banner.waitFor();
    await page.reload();
    await banner.waitFor();
    expect(await page.getByRole('heading', { name: 'Sign in' }).count()).toBe(0);
    await redis.restart();
    await banner.waitFor({ state: 'detached' });
    await eventually(async () => expect(await cards.count()).toBe(100));
    await page.getByRole('searchbox').fill('yard-201');
    await eventually(async () => expect(await cards.count()).toBe(1));
    await cards.click();
    await page.getByLabel('Name of the camera').waitFor();
    expect(await page.title()).toBe('yard-201 · Cameras · scenedelta');
    expect(errors).toEqual([]);
  });
});
