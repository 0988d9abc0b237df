/** The page "Cameras" in Chromium: states, the zone editor by mouse, touch and keyboard, and rules. */
import type { Page } from 'playwright-core';
import { initialCameraState } from '../../src/camera/state/state.js';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';
import { dragByMouse, dragByTouch, positionIn, tabTo } from '../helpers/gestures.js';

const { open, service } = await useConsole();

const put = (id: string, payload: object) => service.inject({ method: 'PUT', url: `/v1/cameras/${id}`, payload });
const settingsOf = (id: string) => service.cameras.kept.get(id)?.settings;
const zonesOf = (id: string) => settingsOf(id)?.zones ?? [];
const save = async (page: Page) => {
  // "Saved." of an earlier save may still be on the page: only the answer to this one says that it is stored.
  const stored = page.waitForResponse((response) => response.request().method() === 'PATCH' && response.ok());
  await page.getByRole('button', { name: 'Save' }).click();
  await stored;
  await page.getByText('Saved.').first().waitFor();
};
/** The middle of a handle, in pixels of the window. */
const middleOf = (page: Page, name: RegExp) => positionIn(page.getByRole('button', { name }));
const onPicture = (page: Page, x: number, y: number) =>
  positionIn(page.getByRole('group', { name: 'Zones on the frame' }), { x, y });
const HOSTILE = `<img src=x onerror="document.title='hit'">`;
const SQUARE = [
  [0.2, 0.2],
  [0.5, 0.2],
  [0.5, 0.6],
  [0.2, 0.6],
];
const withZone = async (id = 'gate', name = 'loading dock') => {
  await put(id, { zones: [{ id: 'dock', name, type: 'include', polygon: SQUARE }] });
  await service.addComparison({}, id);
};

describeInBrowser('The page "Cameras"', () => {
  it('shows each camera with its last frame and state', async () => {
    const now = Date.now();
    const minute = 60_000;
    const frozen = { still: { sha256: 'a'.repeat(64), since: now - 10 * minute, stuck: true } };
    for (const [id, at, state, finding] of [
      ['a-live', now, {}, {}],
      ['b-late', now - 60 * minute, {}, {}],
      ['c-stuck', now, frozen, {}],
      ['d-moved', now, {}, { verdict: 'tamper', tamper: [{ name: 'turned', score: 0.9 }] }],
      ['e-dark', now, {}, { verdict: 'tamper', tamper: [{ name: 'darkened', score: 0.9 }] }],
    ] as const) {
      await put(id, {});
      const comparison = await service.addComparison(finding as object, id);
      const last = { at, sha256: 'a'.repeat(64), comparison };
      service.cameras.states.set(id, {
        ...initialCameraState(),
        frames: 9,
        intervalMs: 1_000,
        last,
        ...(state as object),
      });
    }
    await put('f-new', {});
    const { page, errors } = await open();
    await page.goto(`${service.url}/cameras`);
    const states = page.locator('.camera-state');
    await eventually(async () =>
      expect(await states.allInnerTexts()).toEqual(['no frames', 'stuck', 'moved', 'dark', 'no frame yet', 'live']),
    );
    expect(await page.locator('.camera-card img').count()).toBe(5);
    expect(await inspect(page, 'cameras')).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('edits zones by mouse: drags a corner, snaps it to the border, adds a corner, moves and removes a zone', async () => {
    await withZone();
    const { page, errors } = await open();
    await page.goto(`${service.url}/cameras/gate`);
    await page.getByRole('button', { name: /^Zone loading dock/ }).focus();
    const corner = await middleOf(page, /^Corner 1:/);
    await dragByMouse(page, corner, await onPicture(page, 0.3, 0.3), await onPicture(page, 0.008, 0.1));
    const side = await middleOf(page, /^Add a corner after corner 2/);
    await dragByMouse(page, side, { ...(await onPicture(page, 0.7, 0)), y: side.y });
    expect(await inspect(page, 'camera-zones')).toEqual([]);
    await save(page);
    const polygon = zonesOf('gate')[0]?.polygon ?? [];
    expect(polygon).toHaveLength(5);
    expect(polygon[0]?.[0]).toBe(0);
    expect(polygon[0]?.[1]).toBeCloseTo(0.1, 2);
    expect(polygon[2]?.[0]).toBeCloseTo(0.7, 1);
    await page.getByRole('button', { name: 'Add: privacy' }).click();
    await page.getByText(/^Painted black with a margin of up to \d+ pixels, as the drawing shows it/).waitFor();
    await save(page);
    expect(zonesOf('gate').map(({ type }) => type)).toEqual(['include', 'privacy']);
    await page.getByRole('button', { name: 'Remove this zone' }).click();
    await save(page);
    expect(zonesOf('gate').map(({ id }) => id)).toEqual(['dock']);
    expect(errors).toEqual([]);
  });

  it('edits zones by keyboard alone', async () => {
    await withZone();
    const { page } = await open();
    await page.goto(`${service.url}/cameras/gate`);
    const zone = page.getByRole('button', { name: /^Zone loading dock/ });
    await zone.waitFor();
    await tabTo(page, /^Zone loading dock/);
    await page.keyboard.press('Shift+ArrowRight');
    await tabTo(page, /^Add a corner after corner 1/);
    await page.keyboard.press('Enter');
    await tabTo(page, /^Corner 2:/);
    await page.keyboard.press('Shift+ArrowUp');
    await tabTo(page, /^Corner 5:/);
    await page.keyboard.press('Delete');
    await tabTo(page, /^Add: ignore/);
    await page.keyboard.press('Enter');
    await tabTo(page, /^Save/);
    await page.keyboard.press('Enter');
    await page.getByText('Saved.').first().waitFor();
    const [dock, added] = zonesOf('gate');
    expect(dock?.polygon).toEqual([
      [0.25, 0.2],
      [0.4, 0.15],
      [0.55, 0.2],
      [0.55, 0.6],
    ]);
    expect(added?.id).toBe('zone-2');
  });

  it('sets the word before the name of a zone, and shows how sentences call the place', async () => {
    await withZone('gate', 'bicycle rack');
    const { page, errors } = await open();
    await page.goto(`${service.url}/cameras/gate`);
    await page.getByRole('button', { name: /^bicycle rack/ }).click();
    const example = page.getByText(/^A white van has appeared/);
    const word = page.getByLabel('Word before the name');
    const sentence = async () => (await example.innerText()).split('\n');
    expect(await sentence()).toEqual([
      'A white van has appeared in bicycle rack.',
      'A white van has moved from bicycle rack to …',
    ]);
    await page.getByLabel('Name', { exact: true }).fill('the north gate');
    await eventually(async () => expect((await sentence())[0]).toContain('appeared at the north gate'));
    await word.selectOption('in front of');
    expect((await sentence())[1]).toBe('A white van has moved from in front of the north gate to …');
    expect(await inspect(page, 'camera-place-name')).toEqual([]);
    await save(page);
    expect(zonesOf('gate')[0]).toMatchObject({ name: 'the north gate', preposition: 'in front of' });
    await word.selectOption('another …');
    await page.getByLabel('Another word').fill('Über');
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => expect(await page.getByRole('alert').innerText()).toContain('preposition'));
    await page.getByLabel('Another word').fill('opposite');
    await save(page);
    expect(zonesOf('gate')[0]?.preposition).toBe('opposite');
    await word.selectOption('none');
    expect((await sentence())[0]).toBe('A white van has appeared the north gate.');
    await word.selectOption('automatic');
    await save(page);
    expect(zonesOf('gate')[0]?.preposition).toBeNull();
    await page.getByLabel('Type').selectOption('ignore');
    await word.waitFor({ state: 'detached' });
    expect(errors).toEqual([]);
  });

  it('edits zones by touch', async () => {
    await withZone();
    const { page } = await open({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 900 } });
    await page.goto(`${service.url}/cameras/gate`);
    await page.getByRole('button', { name: /^loading dock/ }).tap();
    await dragByTouch(page, await middleOf(page, /^Corner 3:/), await onPicture(page, 0.8, 0.8));
    await save(page);
    const [x, y] = zonesOf('gate')[0]?.polygon[2] ?? [];
    expect(x).toBeCloseTo(0.8, 1);
    expect(y).toBeCloseTo(0.8, 1);
  });

  it('saves rules and the alarm budget, keeps all other settings, and says why zones are refused', async () => {
    await put('gate', { gap_s: 77, alerts: { callback_url: 'https://user.example/hook' } });
    const { page } = await open();
    await page.goto(`${service.url}/cameras/gate`);
    await page.getByLabel('Frames in a row').fill('3');
    await page.getByLabel('Accepted false alarms per day').fill('2');
    await page.getByLabel('Compare frames with').selectOption('previous');
    await save(page);
    expect(settingsOf('gate')).toMatchObject({
      before: 'previous',
      false_alarms_per_day: 2,
      gap_s: 77,
      alerts: { confirm_frames: 3, callback_url: 'https://user.example/hook' },
    });
    await page.getByLabel('Frames in a row').fill('0');
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => expect(await page.getByRole('alert').innerText()).toContain('confirm_frames'));
    expect(settingsOf('gate')?.alerts.confirm_frames).toBe(3);
  });

  it('sets times, a pause and rules of severity, and shows the alerts of a dry run before they are saved', async () => {
    await withZone('gate', HOSTILE);
    const region = { id: 1, side: 'after', area: 0.1, score: 0.9, box: { x: 0.3, y: 0.3, width: 0.1, height: 0.1 } };
    for (const minutes of [2, 1]) {
      const captured_at = new Date(Date.now() - minutes * 60_000).toISOString();
      const camera_frame = { captured_at, before: { mode: 'memory', captured_at }, notes: [] };
      const found = { verdict: 'change', kind: 'appear', caption: 'a car', regions: [region], camera_frame };
      await service.addComparison(found as object, 'gate');
    }
    const { page, errors } = await open();
    await page.goto(`${service.url}/cameras/gate`);
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByLabel('Kind of rule 1').selectOption('any kind');
    await page.getByLabel('Zone of rule 1').selectOption('dock');
    await page.getByLabel('Least area of rule 1, in percent of the frame').fill('5');
    const dryRun = page.getByRole('region', { name: 'Dry run' });
    await dryRun.getByRole('button').click();
    await dryRun.getByText('Would have sent 1 alert').waitFor();
    expect(await dryRun.getByRole('listitem').innerText()).toMatch(
      new RegExp(`in ${HOSTILE.replace(/[()]/g, '.')}\\. high`),
    );
    expect(await page.locator('main img[src=x]').count()).toBe(0);
    const sentence = page.getByRole('textbox', { name: 'Sentence of rule 1' });
    await sentence.fill('a gizmo has appeared');
    await dryRun.getByRole('button').click();
    await dryRun.getByText('has the word "gizmo", which is not known').waitFor();
    await sentence.fill('a person has appeared');
    await page.getByLabel('Least probability of the sentence of rule 1, in percent').fill('60');
    await dryRun.getByRole('button').click();
    await dryRun.getByText('the model named nothing in a change').waitFor();
    await page.getByRole('button', { name: 'Only at some times' }).click();
    await page.getByLabel('Time zone of these times').fill('Europe/Berlin');
    await page.getByRole('checkbox', { name: 'sun' }).uncheck();
    await page.getByRole('textbox', { name: 'from' }).fill('19:30');
    await page.getByLabel('No alerts before').fill('2099-01-01T00:00');
    await dryRun.getByRole('button').click();
    await dryRun.getByText('Would have sent 0 alerts').waitFor();
    expect(settingsOf('gate')?.schedule).toBeNull();
    await dryRun.scrollIntoViewIfNeeded();
    expect(await inspect(page, 'camera-rules')).toEqual([]);
    await save(page);
    expect(settingsOf('gate')).toMatchObject({
      schedule: {
        timezone: 'Europe/Berlin',
        windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat'], from: '19:30', to: '06:00' }],
      },
      alerts: {
        severity_rules: [
          {
            ...{ zone: 'dock', min_area: 0.05, severity: 'high' },
            ...{ when: 'a person has appeared', when_probability: 0.6 },
          },
        ],
      },
    });
    expect(Date.parse(settingsOf('gate')?.suspend_until ?? '')).toBeGreaterThan(Date.UTC(2098, 11, 30));
    await page.getByText(/^no alerts before/).waitFor();
    await page.getByRole('button', { name: 'Remove rule 1' }).click();
    await page.getByRole('button', { name: 'Remove this time' }).click();
    await page.getByLabel('No alerts before').fill('');
    await save(page);
    expect(settingsOf('gate')).toMatchObject({ schedule: null, suspend_until: null, alerts: { severity_rules: [] } });
    expect(errors).toEqual([]);
  });

  it('shows markup in the names of cameras and zones as text', async () => {
    await put('gate', { name: HOSTILE, zones: [{ id: 'dock', name: HOSTILE, type: 'ignore', polygon: SQUARE }] });
    const { page, errors } = await open();
    for (const path of ['/cameras', '/cameras/gate']) {
      await page.goto(service.url + path);
      await page.getByText(HOSTILE).first().waitFor();
      expect(await page.locator('main img[src=x]').count()).toBe(0);
    }
    expect([await page.title(), errors]).toEqual(['gate · Cameras · scenedelta', []]);
  });
});
