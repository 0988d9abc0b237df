/**
 * Changes in memory, grouped: changes with equal sentences at one place are one group, so that a sentence of the
 * captions' grammar is analysed and scored once. Postings lead from a term to the texts that have it.
 */
import type { ChangeKind, Severity } from '../schemas/kinds.js';
import { type AnalysedText, analysePlace, analyseText, type SearchedChange, type TermUse, textKey } from './texts.js';

/** The sentences of one or many changes. */
export interface Text extends AnalysedText {
  readonly key: string;
  readonly groups: Set<Group>;
  changes: number;
  /** changes of it that the filtered search under way may find; see scope.ts */
  inScope: number;
}
/** A camera and one of its zones, or none. */
export interface Place {
  readonly camera: string;
  readonly zone: string | null;
  readonly groups: Set<Group>;
  terms: ReadonlyMap<string, TermUse>;
  changes: number;
  inScope: number;
}
/** A change without its text. */
export interface Entry {
  readonly id: string;
  readonly kind: ChangeKind;
  /** undefined of most changes */
  readonly object: SearchedChange['object'];
  readonly severity: Severity;
  /** epoch ms */
  readonly confirmed: number;
  readonly group: Group;
}
export interface Group {
  readonly key: string;
  readonly text: Text;
  readonly place: Place;
  readonly entries: Set<Entry>;
  inScope: number;
}

/** Ids and names of a camera and one of its zones. */
export type NamesOf = (camera: string, zone: string | null) => readonly string[];
const idsOnly: NamesOf = (camera, zone) => (zone === null ? [camera] : [camera, zone]);

/** Share of the bound that stays when it is exceeded, so that the order of all changes is computed rarely. */
const KEPT_SHARE = 0.98;

export class ChangeGroups {
  readonly #entries = new Map<string, Entry>();
  readonly #groups = new Map<string, Group>();
  readonly #texts = new Map<string, Text>();
  readonly #places = new Map<string, Place>();
  readonly #postings = new Map<string, Set<Text>>();
  readonly #most: number;
  readonly #onRemove: (id: string) => void;
  #namesOf: NamesOf = idsOnly;
  #lengths = 0;

  /**
   * @param most changes that are kept; the earliest ones are dropped
   * @param onRemove is called per change that leaves the index, or is replaced in it
   */
  constructor(most: number, onRemove: (id: string) => void) {
    this.#most = most;
    this.#onRemove = onRemove;
  }

  get size(): number {
    return this.#entries.size;
  }
  /** sum of the lengths of their texts */
  get lengths(): number {
    return this.#lengths;
  }
  texts(): Iterable<Text> {
    return this.#texts.values();
  }
  places(): Iterable<Place> {
    return this.#places.values();
  }
  entry(id: string): Entry | undefined {
    return this.#entries.get(id);
  }
  textsWith(term: string): ReadonlySet<Text> {
    return this.#postings.get(term) ?? NO_TEXTS;
  }
  terms(): Iterable<string> {
    return this.#postings.keys();
  }

  put(change: SearchedChange): void {
    this.remove(change.id);
    const group = this.#groupOf(change);
    const { id, kind, object, severity } = change;
    const entry = { id, kind, object, severity, confirmed: Date.parse(change.confirmed_at), group };
    group.entries.add(entry);
    this.#entries.set(id, entry);
    this.#count(group, 1);
    if (this.#entries.size > this.#most) this.#dropEarliest();
  }

  remove(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    this.#onRemove(id);
    const { group } = entry;
    group.entries.delete(entry);
    this.#count(group, -1);
    if (group.entries.size > 0) return;
    this.#groups.delete(group.key);
    const { text, place } = group;
    place.groups.delete(group);
    if (place.groups.size === 0) this.#places.delete(placeKey(place));
    text.groups.delete(group);
    if (text.groups.size > 0) return;
    this.#texts.delete(text.key);
    for (const term of text.terms.keys()) {
      const posting = this.#postings.get(term);
      posting?.delete(text);
      if (posting?.size === 0) this.#postings.delete(term);
    }
  }

  clear(): void {
    this.#lengths = 0;
    for (const map of [this.#entries, this.#groups, this.#texts, this.#places, this.#postings]) map.clear();
  }

  setNames(namesOf: NamesOf): void {
    this.#namesOf = namesOf;
    for (const place of this.#places.values()) place.terms = analysePlace(namesOf(place.camera, place.zone));
  }

  #count({ text, place }: Group, by: 1 | -1): void {
    text.changes += by;
    place.changes += by;
    this.#lengths += by * text.length;
  }

  #groupOf(change: SearchedChange): Group {
    const { camera, zone } = change;
    const [textId, placeId] = [textKey(change), placeKey(change)];
    const key = `${placeId}${textId}`;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const text = this.#texts.get(textId) ?? this.#newText(textId, change);
    const newPlace = (): Place => {
      const terms = analysePlace(this.#namesOf(camera, zone));
      return { camera, zone, groups: new Set(), terms, changes: 0, inScope: 0 };
    };
    const place = this.#places.get(placeId) ?? newPlace();
    this.#places.set(placeId, place);
    const group = { key, text, place, entries: new Set<Entry>(), inScope: 0 };
    text.groups.add(group);
    place.groups.add(group);
    this.#groups.set(key, group);
    return group;
  }

  #newText(key: string, change: SearchedChange): Text {
    const text: Text = { key, groups: new Set(), changes: 0, inScope: 0, ...analyseText(change) };
    this.#texts.set(key, text);
    for (const term of text.terms.keys()) {
      const posting = this.#postings.get(term);
      if (posting === undefined) this.#postings.set(term, new Set([text]));
      else posting.add(text);
    }
    return text;
  }

  #dropEarliest(): void {
    const order = [...this.#entries.values()].sort((a, b) => a.confirmed - b.confirmed);
    const dropped = this.#entries.size - Math.floor(this.#most * KEPT_SHARE);
    for (const { id } of order.slice(0, dropped)) this.remove(id);
  }
}

const placeKey = ({ camera, zone }: Pick<Place, 'camera' | 'zone'>): string => JSON.stringify([camera, zone]);

const NO_TEXTS: ReadonlySet<Text> = new Set();
