/** Mouse, touch and keyboard as a person uses them on a page. */
import type { Locator, Page } from 'playwright-core';

export interface Position {
  readonly x: number;
  readonly y: number;
}

/** Time in which an element stays where it is, so that nothing above it loads any more. */
const STILL_MS = 200;

/**
 * Waits until the element keeps its place.
 * @param at shares of its width and height. @returns a position in it, in pixels of the window
 */
export async function positionIn(element: Locator, at: Position = { x: 0.5, y: 0.5 }): Promise<Position> {
  for (let last = ''; ; ) {
    const box = await element.boundingBox();
    if (box === null) throw new Error(`${element} is not visible`);
    const now = JSON.stringify(box);
    if (now === last) return { x: box.x + at.x * box.width, y: box.y + at.y * box.height };
    last = now;
    await element.page().waitForTimeout(STILL_MS);
  }
}

export async function dragByMouse(page: Page, ...[from, ...way]: readonly Position[]): Promise<void> {
  if (from === undefined) throw new Error('there is no position to begin at');
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (const { x, y } of way) await page.mouse.move(x, y, { steps: 4 });
  await page.mouse.up();
}

export async function dragByTouch(page: Page, from: Position, to: Position): Promise<void> {
  const client = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: Position[]) =>
    client.send('Input.dispatchTouchEvent', { type, touchPoints });
  await touch('touchStart', [from]);
  await touch('touchMove', [{ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }]);
  await touch('touchMove', [to]);
  await touch('touchEnd', []);
}

/** Presses in a page whose every control has been passed by then. */
const MOST_PRESSES = 120;
/** Name of the control that has the focus: its label, or its text. */
const FOCUSED = `(() => {
  const { activeElement: one } = document;
  const text = one?.getAttribute('aria-label') ?? one?.labels?.[0]?.innerText ?? one?.textContent;
  return (text ?? '').trim();
})()`;

/** For parts of controls and for the bar of the browser. */
const SPARE_PRESSES = 40;

/** Presses Tab until the named control has the focus. @throws Error if it cannot be reached */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < MOST_PRESSES; presses++) {
    if (name.test(String(await page.evaluate(FOCUSED)))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${name} cannot be reached by Tab`);
}

const CONTROLS =
  'a[href], button, input, select, textarea, summary, video[controls], [role=button], [role=slider], [role=listbox]';

/**
 * Presses Tab until the focus has been everywhere.
 * @returns the visible controls that it did not reach; of a group through which the arrow keys lead, one is enough
 */
export async function unreachableByTab(page: Page): Promise<string[]> {
  const count = await page.evaluate(`(() => {
    document.activeElement?.blur();
    globalThis.reached = new Set();
    document.addEventListener('focusin', ({ target }) => globalThis.reached.add(target));
    return document.querySelectorAll('${CONTROLS}').length;
  })()`);
  // Fields of times have several parts, which have the focus one after the other.
  const presses = Number(count) + SPARE_PRESSES;
  for (let i = 0; i < presses; i++) await page.keyboard.press('Tab');
  return (await page.evaluate(`(() => {
    const groups = new Set([...globalThis.reached].filter(({ type }) => type === 'radio').map(({ name }) => name));
    return [...document.querySelectorAll('${CONTROLS}')]
      .filter((one) => one.checkVisibility() && !one.disabled && one.tabIndex >= 0)
      .filter((one) => !globalThis.reached.has(one) && !(one.type === 'radio' && groups.has(one.name)))
      .map(({ outerHTML }) => outerHTML.slice(0, 160));
  })()`)) as string[];
}
