/**
 * Chromium for the tests of the console. Screenshots are written to the folder SCREENSHOTS, if it is set. Without
 * Chromium the tests that use it are skipped (npm test installs it).
 */
import { mkdir } from 'node:fs/promises';
import { jest } from '@jest/globals';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findChromium } from '../../scripts/lib/chromium.mjs';

const screenshots = process.env.SCREENSHOTS;
const program = findChromium();
const WIDTHS = [1440, 390];
const SCHEMES = ['light', 'dark'] as const;
const HEIGHT = 900;
/** Limit of a test: it only catches a page that hangs, also on a busy machine. */
const TEST_LIMIT_MS = 180_000;
/** Limit of one step in the page. */
const STEP_LIMIT_MS = 45_000;

/** describe, or describe.skip without Chromium */
export const describeInBrowser = program === undefined ? describe.skip : describe;

export interface Tab {
  readonly page: Page;
  /** errors of the page so far: exceptions, and messages such as violations of its security policy */
  readonly errors: string[];
}

/** One browser for all tests of a file. @returns a function that opens a tab with cookies of its own */
export function useBrowser(): (options?: BrowserContextOptions) => Promise<Tab> {
  let browser: Browser;
  jest.setTimeout(TEST_LIMIT_MS);
  beforeAll(async () => {
    if (program === undefined) return;
    // Containers and root have no sandbox; the pages are the project's own.
    const args = ['--no-sandbox', '--disable-dev-shm-usage'];
    browser = await chromium.launch({ executablePath: program, args });
    if (screenshots !== undefined) await mkdir(screenshots, { recursive: true });
  }, TEST_LIMIT_MS);
  afterAll(() => browser?.close());
  return async (options = {}) => {
    const context = await browser.newContext({
      viewport: { width: WIDTHS[0] as number, height: HEIGHT },
      // Requests that a service worker answers are not seen by tests.
      serviceWorkers: 'block',
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_LIMIT_MS);
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      // The browser also reports answers of the API that are no success, which the page shows to the user.
      const isAnswer = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isAnswer) errors.push(message.text());
    });
    return { page, errors };
  };
}

/** Height of the navigation of a telephone, and its distance to the lower edge; zeros without one. */
const NAVIGATION = `(() => {
  const box = document.querySelector('nav.bar')?.getBoundingClientRect();
  return box?.height > 0 ? [box.height, innerHeight - box.bottom] : [0, 0];
})()`;
const MOST_NAVIGATION = 80;

/** Ends when the page has been drawn with its new size and colours. */
const DRAWN = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

/** Looks at the page wide and narrow, light and dark, with a screenshot of each. @returns its faults */
export async function inspect(page: Page, name: string): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    for (const colorScheme of SCHEMES) {
      await page.setViewportSize({ width, height: HEIGHT });
      await page.emulateMedia({ colorScheme });
      await page.evaluate(DRAWN);
      if (screenshots !== undefined) {
        await page.screenshot({ path: `${screenshots}/${name}-${width}-${colorScheme}.png` });
      }
      // Each width and each scheme once: the rules about colours and those about layout do not depend on each other.
      const isChecked = WIDTHS.indexOf(width) === SCHEMES.indexOf(colorScheme);
      for (const violation of isChecked ? await violations(page) : []) {
        found.push(`${width} ${colorScheme}: ${violation}`);
      }
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      if ((overflow as number) > 0) found.push(`${width}: the page is ${overflow} px wider than the window`);
      const [height, below] = (await page.evaluate(NAVIGATION)) as [number, number];
      if (height > MOST_NAVIGATION || below !== 0) found.push(`${width}: the navigation has ${height} px`);
    }
  }
  await page.setViewportSize({ width: WIDTHS[0] as number, height: HEIGHT });
  return found;
}

/**
 * The violations alone: Playwright checks each value that leaves the page, and the results of a page are thousands.
 * Of rules without one, axe lists a single element.
 */
const RUN_AXE = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`;

async function violations(page: Page): Promise<string[]> {
  // As an expression of the debugger it is not subject to the security policy of the page.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(`${axe.source}; undefined`);
  return (await page.evaluate(RUN_AXE)) as string[];
}
