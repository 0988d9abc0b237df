/** The built files of the console, as the API serves them. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { type ConsoleService, startConsole } from '../helpers/console-service.js';

const MOST_GZIP_BYTES = 150_000;
const HTML = { accept: 'text/html' };

let service: ConsoleService;
beforeAll(async () => {
  service = await startConsole();
});
afterAll(() => service.stop());

/** Addresses that the page itself loads: scripts, their static imports, and styles. */
async function firstLoad(): Promise<string[]> {
  const page = await (await fetch(service.url, { headers: HTML })).text();
  const found = [...page.matchAll(/(?:src|href)="\.(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  for (const path of found) {
    if (!path.endsWith('.js')) continue;
    const script = await (await fetch(service.url + path)).text();
    const imports = [...script.matchAll(/(?:^|[;}])import(?:[^"'()]*from)?["']\.\/([\w.-]+)["']/g)];
    for (const [, name = ''] of imports) if (!found.includes(`/assets/${name}`)) found.push(`/assets/${name}`);
  }
  return found;
}

describe('The files of the console', () => {
  it(`are at most ${MOST_GZIP_BYTES / 1000} kB for the first load, compressed`, async () => {
    const page = gzipSync(await (await fetch(service.url, { headers: HTML })).text()).length;
    const sizes = (await firstLoad()).map((path) => readFileSync(`dist/console${path}.gz`).length);
    expect(sizes.length).toBeGreaterThanOrEqual(2);
    expect(sizes.reduce((sum, bytes) => sum + bytes, page)).toBeLessThan(MOST_GZIP_BYTES);
  });

  it('are sent compressed and kept by browsers, because their names contain a hash', async () => {
    for (const path of await firstLoad()) {
      const answer = await service.app.inject({ url: path, headers: { 'accept-encoding': 'br, gzip' } });
      expect([path, answer.statusCode, answer.headers['content-encoding']]).toEqual([path, 200, 'br']);
      expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(answer.headers).toMatchObject({ vary: 'Accept-Encoding', 'x-content-type-options': 'nosniff' });
    }
  });

  it('come with a policy without inline scripts, foreign origins and frames of them', async () => {
    const { headers } = await service.app.inject({ url: '/', headers: HTML });
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'self'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers).toMatchObject({ 'cache-control': 'no-cache', vary: 'Accept', 'referrer-policy': 'no-referrer' });
  });

  it('leave the JSON at / to clients that do not ask for HTML', async () => {
    const { headers, body } = await service.app.inject({ url: '/', headers: { accept: 'application/json' } });
    expect(headers['content-type']).toContain('application/json');
    expect(JSON.parse(body)).toMatchObject({ name: 'scenedelta', links: { docs: '/docs' } });
  });

  it.each(['/assets/../index.html', '/assets/%2e%2e/index.html', '/assets/none.js', '/assets/'])(
    'are the only ones below /assets: %s is not found',
    async (url) => {
      expect((await service.app.inject({ url })).statusCode).toBe(404);
    },
  );
});
