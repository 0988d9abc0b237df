/**
 * Script of report.html: timeline, filters and cards of changes. It runs in a browser without a network, and writes all
 * data as text, so that a caption or a name cannot become markup.
 */
import type { ReportCamera, ReportChange, ReportData, ReportEntry, ReportPicture, ReportVisit } from './data.js';

const SVG = 'http://www.w3.org/2000/svg';
/** Height of a camera's row on the timeline, and units of its width. */
const ROW = 26;
const WIDTH = 1000;

function byId<T extends Element>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`#${id} is no ${type.name}`);
  return found;
}

function html(tag: string, className = '', text = ''): HTMLElement {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  if (text !== '') element.textContent = text;
  return element;
}

function svg(tag: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

const data = JSON.parse(byId('data', HTMLScriptElement).textContent ?? '') as ReportData;
const { texts } = data;
/** Facts that the text filter reads, beside sentence and camera. */
const SEARCHED: ReadonlySet<string> = new Set([texts.in_the_footage, texts.zone]);
const filters = {
  camera: byId('camera', HTMLSelectElement),
  kind: byId('kind', HTMLSelectElement),
  day: byId('day', HTMLSelectElement),
  text: byId('text', HTMLInputElement),
};
const list = byId('changes', HTMLOListElement);
const places = byId('places', HTMLInputElement);
const count = byId('count', HTMLElement);
const timeline = byId('timeline', HTMLElement);

interface Item {
  readonly change: ReportEntry;
  /** undefined: a visit; null: a change that is no place of one */
  readonly visit: string | null | undefined;
  readonly card: HTMLElement;
  readonly mark: SVGElement;
  readonly words: string;
}

/** Pictures are decoded when their card comes near the view: a page may have thousands. */
const nearView = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      nearView.unobserve(target);
      for (const image of target.querySelectorAll('img')) {
        const source = document.getElementById(`picture-${image.dataset.picture}`);
        image.src = `data:image/jpeg;base64,${source?.textContent ?? ''}`;
      }
    }
  },
  { rootMargin: '100% 0px' },
);

function pictureOf({ picture, outline }: ReportPicture, side: string, caption: string, way = ''): HTMLElement {
  const figure = html('figure');
  const frame = html('div', 'frame');
  const source = picture === null ? null : document.getElementById(`picture-${picture}`);
  if (source === null) {
    frame.append(html('span', 'missing', texts.no_picture));
  } else {
    const image = document.createElement('img');
    image.alt = `${side}: ${caption}`;
    image.width = Number(source.dataset.width);
    image.height = Number(source.dataset.height);
    image.dataset.picture = String(picture);
    frame.append(image);
    if (outline !== '' || way !== '') {
      const layer = svg('svg', { viewBox: '0 0 1 1', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
      layer.append(svg('path', { d: outline, class: 'halo' }), svg('path', { d: outline, class: 'outline' }));
      if (way !== '') layer.append(svg('path', { d: way, class: 'way' }));
      frame.append(layer);
    }
  }
  figure.append(frame, html('figcaption', '', side));
  return figure;
}

function cardOf(change: ReportEntry, number: number, shown: readonly HTMLElement[]): HTMLElement {
  const card = html('li', `card ${change.severity}`);
  card.id = change.id;
  card.tabIndex = -1;
  const title = html('h3', '', change.caption);
  title.id = `title-${number}`;
  card.setAttribute('aria-labelledby', title.id);
  const head = html('p', 'head');
  head.append(html('time', '', change.when), html('span', 'tag', change.camera), html('span', 'tag', change.kind));
  const pictures = html('div', 'pictures');
  pictures.append(...shown);
  const facts = html('dl');
  for (const [name, value] of change.facts) facts.append(html('dt', '', name), html('dd', '', value));
  card.append(head, title, pictures, facts);
  nearView.observe(card);
  return card;
}

function markOf(change: ReportEntry, { span: [from, to] }: ReportCamera, row: number): SVGElement {
  const x = 2 + ((WIDTH - 8) * (change.time - from)) / Math.max(to - from, 1);
  const mark = svg('rect', {
    x,
    y: row * ROW + 4,
    width: 4,
    height: ROW - 8,
    rx: 1.5,
    class: `mark ${change.severity}`,
  });
  const title = svg('title', {});
  title.textContent = `${change.when}: ${change.caption}`;
  mark.append(title);
  return mark;
}

/** @returns the camera's row: its gaps, then its marks */
function rowOf(camera: ReportCamera, items: readonly Item[]): HTMLElement {
  const row = html('div', 'row');
  const chart = svg('svg', { viewBox: `0 0 ${WIDTH} ${ROW}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  chart.append(svg('rect', { x: 0, y: ROW / 2 - 1, width: WIDTH, height: 2, class: 'axis' }));
  const [from, to] = camera.span;
  for (const [begin, end] of camera.gaps) {
    const x = (WIDTH * (begin - from)) / Math.max(to - from, 1);
    const width = (WIDTH * (end - begin)) / Math.max(to - from, 1);
    chart.append(svg('rect', { x, y: 4, width, height: ROW - 8, class: 'gap' }));
  }
  for (const item of items) if (item.change.camera === camera.camera) chart.append(item.mark);
  const ends = html('div', 'ends');
  ends.append(html('span', '', camera.from), html('span', '', camera.to));
  row.append(html('strong', '', camera.camera), chart, ends);
  return row;
}

const cameras = new Map(data.cameras.map((camera) => [camera.camera, camera]));
const picturesOf = (entry: ReportChange | ReportVisit): HTMLElement[] =>
  'shown' in entry
    ? [pictureOf(entry.shown, texts.best_frame, entry.caption, entry.way)]
    : [pictureOf(entry.before, texts.before, entry.caption), pictureOf(entry.after, texts.after, entry.caption)];
const items: readonly Item[] = [...data.visits, ...data.changes].flatMap((change, number) => {
  const camera = cameras.get(change.camera);
  if (camera === undefined) return [];
  const visit = 'shown' in change ? undefined : change.visit;
  const facts = change.facts.filter(([name]) => SEARCHED.has(name)).map(([, value]) => value);
  const words = [change.caption, change.camera, ...facts].join(' ').toLowerCase();
  return [{ change, visit, card: cardOf(change, number, picturesOf(change)), mark: markOf(change, camera, 0), words }];
});
/** A title without a card below it looks like a page that was cut off. */
const titles = [
  ['visits-title', ({ visit }: Item) => visit === undefined],
  ['changes-title', ({ visit }: Item) => visit !== undefined],
] as const;
let shown: readonly Item[] = [];
let current: Item | undefined;

function choose(item: Item | undefined): void {
  if (item === undefined) return;
  current?.card.classList.remove('current');
  current?.mark.classList.remove('current');
  current = item;
  item.card.classList.add('current');
  item.mark.classList.add('current');
  item.card.scrollIntoView({ block: 'start' });
  item.card.focus({ preventScroll: true });
}

function step(by: number): void {
  const at = current === undefined ? -1 : shown.indexOf(current);
  choose(shown[at < 0 ? 0 : Math.min(Math.max(at + by, 0), shown.length - 1)]);
}

function filter(): void {
  const words = filters.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (select: HTMLSelectElement, value: string) => select.value === '' || select.value === value;
  shown = items.filter(
    (item) =>
      (places.checked || typeof item.visit !== 'string') &&
      fits(filters.camera, item.change.camera) &&
      fits(filters.kind, item.change.kind) &&
      fits(filters.day, item.change.day) &&
      words.every((word) => item.words.includes(word)),
  );
  const visible = new Set(shown);
  for (const item of items) {
    item.card.hidden = !visible.has(item);
    item.mark.classList.toggle('off', !visible.has(item));
  }
  for (const [id, isOf] of titles) byId(id, HTMLElement).hidden = !shown.some(isOf);
  const counted = data.visits.length === 0 ? texts.shown : texts.shown_visits;
  count.textContent = counted.replace('{n}', String(shown.length)).replace('{all}', String(items.length));
}

function fill(select: HTMLSelectElement, values: Iterable<string>): void {
  for (const value of new Set(values)) select.append(new Option(value, value));
  // One value, or none, offers no choice.
  const label = select.closest('label');
  if (label !== null) label.hidden = select.options.length <= 2;
}

fill(
  filters.camera,
  data.cameras.map(({ camera }) => camera),
);
fill(filters.kind, items.map(({ change }) => change.kind).sort());
fill(filters.day, data.days);
list.append(...items.filter(({ visit }) => visit !== undefined).map(({ card }) => card));
byId('visits', HTMLOListElement).append(...items.filter(({ visit }) => visit === undefined).map(({ card }) => card));
// Without visits no change is a place of one.
if (data.visits.length === 0) places.closest('label')?.remove();
timeline.append(...data.cameras.map((camera) => rowOf(camera, items)));
for (const control of [...Object.values(filters), places]) control.addEventListener('input', filter);
byId('outlines', HTMLInputElement).addEventListener('change', ({ target }) => {
  document.body.classList.toggle('plain', target instanceof HTMLInputElement && !target.checked);
});
timeline.addEventListener('click', ({ target }) => choose(items.find(({ mark }) => mark === target)));
document.addEventListener('keydown', (event) => {
  const { target, key } = event;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return;
  const onTimeline = target === timeline;
  if (key === 'j' || (onTimeline && key === 'ArrowRight')) step(1);
  else if (key === 'k' || (onTimeline && key === 'ArrowLeft')) step(-1);
  else if (key === '/') filters.text.focus();
  else return;
  event.preventDefault();
});
filter();
