/** The page "Review" in Chromium with 20,000 changes of 202 cameras in Redis, written by the stores of the service. */
import { Redis } from 'ioredis';
import type { Page } from 'playwright-core';
import { createLiveSearch } from '../../src/api/search/live-index.js';
import { createLogger } from '../../src/process/logger.js';
import { createCameraStore } from '../../src/stores/cameras/cameras.js';
import { createChangeLog } from '../../src/stores/changes/change-log.js';
import { createChangeStore } from '../../src/stores/changes/changes.js';
import { createVisitStore } from '../../src/stores/changes/visits.js';
import { describeInBrowser, inspect, useBrowser } from '../helpers/browser.js';
import { foundChange, opening, saveTurnChanges } from '../helpers/changes.js';
import { type ConsoleService, startConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';

const CHANGES = 20_000;
const CAMERAS = 202;
const MINUTE_MS = 60_000;
/** Changes of one write. */
const AT_ONCE = 2_000;
/** Somewhat longer than a judgement can be undone. */
const UNDO_MS = 6_000;
const NOW = Date.now();
const cameraOf = (i: number) => `yard-${String(i % CAMERAS).padStart(3, '0')}`;
const RETENTION = { retentionMs: 86_400_000 };

const open = useBrowser();
let server: TestRedis;
let redis: Redis;
let stores: ReturnType<typeof storesOf>;
let service: ConsoleService;

function storesOf(client: Redis) {
  const changes = createChangeStore(client, RETENTION);
  const cameras = createCameraStore(client);
  const logger = createLogger({ level: 'silent', name: 'test' });
  const search = createLiveSearch(
    { changes, cameras, changeLog: createChangeLog(client) },
    { most: CHANGES, clock: Date.now, logger },
  );
  return { changes, cameras, search, visits: createVisitStore(client) };
}

/** The latest first; every 1,000th is about the dock. */
async function write(comparison: string): Promise<void> {
  const comparisons = { first: comparison, best: comparison, last: comparison };
  const found = Array.from({ length: CHANGES }, (_, i) =>
    foundChange({
      name: `thing ${i}`,
      caption: i % 1_000 === 999 ? `a red car ${i} has appeared` : `thing ${i} has appeared`,
      zone: i % 1_000 === 999 ? 'dock' : null,
      severity: i % 10 === 3 ? 'high' : 'low',
      confirmed: NOW - i * MINUTE_MS,
      camera: cameraOf(i),
      comparisons,
    }),
  );
  for (let from = 0; from < CHANGES; from += AT_ONCE) {
    await saveTurnChanges(redis, { changes: found.slice(from, from + AT_ONCE).map(opening) }, RETENTION);
  }
}

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.socket);
  stores = storesOf(redis);
  service = await startConsole({}, stores);
  await write(await service.addComparison());
  for (let i = 0; i < CAMERAS; i++) {
    const payload = { name: `Yard ${i}`, labels: i % 101 === 7 ? ['south'] : [] };
    await service.inject({ method: 'PUT', url: `/v1/cameras/${cameraOf(i)}`, payload });
  }
  stores.search.start();
}, 60_000);
afterAll(async () => {
  await service?.stop();
  await stores?.search.close();
  redis?.disconnect();
  await server?.stop();
});

const listOf = (page: Page) => page.getByRole('listbox', { name: 'Changes' });
const rowsOf = (page: Page) => listOf(page).getByRole('option');
/** @returns the paths of requests of the API, as they are sent */
function requestsOf(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith('/v1/')) asked.push(`${request.method()} ${pathname}${search}`);
  });
  return asked;
}
const pagesOf = (asked: readonly string[]) => asked.filter((one) => one.startsWith('GET /v1/changes?'));
const toEnd = (page: Page) => listOf(page).evaluate((list) => list.scrollTo(0, list.scrollHeight));

describeInBrowser('The page "Review" with 20,000 changes of 202 cameras', () => {
  it('reads what is looked at, page by page, and opens a change with at most six requests', async () => {
    const { page, errors } = await open();
    const asked = requestsOf(page);
    await page.goto(`${service.url}/review`);
    await page.getByText('the first 100 changes').waitFor();
    await page.getByText(', live').waitFor();
    expect(pagesOf(asked)).toHaveLength(1);
    expect(await rowsOf(page).count()).toBeLessThan(60);
    for (let read = 200; read <= 500; read += 100) {
      await toEnd(page);
      await page.getByText(`the first ${read} changes`).waitFor();
    }
    expect(pagesOf(asked)).toHaveLength(5);
    expect(await rowsOf(page).count()).toBeLessThan(60);
    await rowsOf(page).first().waitFor();
    asked.length = 0;
    await rowsOf(page).nth(8).click();
    await page.locator('[data-outline=after] .line').first().waitFor();
    const ofChange = asked.filter((one) => !/size=small|around=/.test(one) && !one.startsWith('GET /v1/changes?'));
    expect(ofChange.length).toBeLessThanOrEqual(6);
    expect(await inspect(page, 'review-many')).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('filters and searches on the server, also what no page has shown', async () => {
    const { page } = await open();
    const asked = requestsOf(page);
    await page.goto(`${service.url}/review?zone=dock&list=changes`);
    await page.getByText('20 changes, live').waitFor();
    expect(await rowsOf(page).last().innerText()).toMatch(/dock/);
    // The service examines at most 1,000 changes for a page.
    expect(pagesOf(asked).length).toBeLessThanOrEqual(CHANGES / 1_000 + 1);
    asked.length = 0;
    await page.goto(`${service.url}/review?zone=dock&camera=${cameraOf(CHANGES - 1)}`);
    await page.getByText('1 change, live').waitFor();
    expect(pagesOf(asked)).toHaveLength(1);
    await page.goto(`${service.url}/review?q=red+car+19999`);
    await rowsOf(page).first().getByText('a red car 19999 has appeared').waitFor();
  });

  it('lists the changes of a label page by page, by keyboard alone, and those of a search in it', async () => {
    const { page, errors } = await open();
    const asked = requestsOf(page);
    await page.goto(`${service.url}/review`);
    await page.getByText('the first 100 changes').waitFor();
    asked.length = 0;
    await page.getByRole('combobox', { name: 'Label' }).focus();
    await page.keyboard.type('south');
    await page.getByText('the first 100 changes').waitFor();
    await eventually(async () => {
      for (const row of await rowsOf(page).allInnerTexts()) expect(row).toMatch(/Yard (7|108)\b/);
    });
    await toEnd(page);
    await page.getByText('198 changes, live').waitFor();
    for (const one of pagesOf(asked)) expect(one).toContain('label=south');
    expect(pagesOf(asked)).toHaveLength(2);
    expect(asked.some((one) => one.startsWith('GET /v1/changes/counts?') && one.includes('label=south'))).toBe(true);
    expect(await page.getByRole('combobox', { name: 'Camera' }).getByRole('option').count()).toBe(3);
    expect(await page.getByRole('link', { name: 'Brief of today' }).getAttribute('href')).toContain('label=south');
    expect(await inspect(page, 'review-label')).toEqual([]);
    await page.goto(`${service.url}/review?label=south&q=thing+7`);
    await rowsOf(page).first().getByText('thing 7 has appeared').waitFor();
    expect(errors).toEqual([]);
  });

  it('judges several changes with one request by keyboard alone, and withdraws it', async () => {
    const { page } = await open();
    await page.clock.install();
    const asked = requestsOf(page);
    await page.goto(`${service.url}/review?camera=${cameraOf(7)}`);
    await page.getByText('99 changes, live').waitFor();
    const chosen = rowsOf(page).and(page.locator('[aria-selected=true]'));
    await page.keyboard.press('j');
    await eventually(async () => expect(await chosen.count()).toBe(1));
    await page.keyboard.press('j');
    for (const count of [2, 3, 4]) {
      await page.keyboard.press('J');
      await page.getByRole('heading', { name: `${count} entries chosen` }).waitFor();
    }
    await page.keyboard.press('x');
    await page.getByRole('heading', { name: '3 entries chosen' }).waitFor();
    expect(await chosen.count()).toBe(3);
    expect(await inspect(page, 'review-bulk')).toEqual([]);
    await page.keyboard.press('f');
    await page.getByText('False alarm, not saved yet: 3 entries').waitFor();
    const judged = async () => {
      const { items } = await stores.changes.list({ camera: cameraOf(7), limit: 8 });
      return items.map(({ feedback }) => feedback?.judgement ?? null);
    };
    expect(await judged()).toEqual(Array(8).fill(null));
    await page.clock.fastForward(UNDO_MS);
    const expected = [null, ...Array(3).fill('false_alarm'), ...Array(4).fill(null)];
    await eventually(async () => expect(await judged()).toEqual(expected));
    expect(asked.filter((one) => one.startsWith('POST'))).toEqual(['POST /v1/feedback']);
    await eventually(async () => {
      await page.keyboard.press('u');
      await page.getByText('Undone: 3 entries').waitFor({ timeout: 1_000 });
    });
    await eventually(async () => expect(await judged()).toEqual(Array(8).fill(null)));
    await page.keyboard.press('*');
    await page.getByRole('heading', { name: /^\d+ entries chosen/ }).waitFor();
    // The keys of the heading's bar are bound after it is painted.
    await eventually(async () => {
      await page.keyboard.press('Escape');
      expect(await chosen.count()).toBe(1);
    });
  });
});
