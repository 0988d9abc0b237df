/** Mouse, touch and keyboard as a person uses them on a page. */
import type { Locator, Page } from 'playwright-core';

export interface Position {
  readonly x: number;
  readonly y: number;
}

/** @returns a position in an element, in pixels of the window. @param at shares of its width and height */
export async function positionIn(element: Locator, at: Position = { x: 0.5, y: 0.5 }): Promise<Position> {
  const box = await element.boundingBox();
  if (box === null) throw new Error(`${element} is not visible`);
  return { x: box.x + at.x * box.width, y: box.y + at.y * box.height };
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

/** Of a page whose every control has been passed by then. */
const MOST_PRESSES = 120;
/** Name of the control that has the focus: its label, or its text. */
const FOCUSED = `(() => {
  const { activeElement: one } = document;
  const text = one?.getAttribute('aria-label') ?? one?.labels?.[0]?.innerText ?? one?.textContent;
  return (text ?? '').trim();
})()`;

/** Presses Tab until the named control has the focus. @throws Error if it cannot be reached */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < MOST_PRESSES; presses++) {
    if (name.test(String(await page.evaluate(FOCUSED)))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${name} cannot be reached by Tab`);
}
