/**
 * Templates of the documents, which the build of the console writes to dist/documents: one HTML file each, with its
 * script and its style in it. Data lie in a block that a browser does not run, and the script shows them as text.
 */
import { readFile } from 'node:fs/promises';
import { escapeHtml } from './escape-html.js';

type DocumentName = 'report' | 'evidence' | 'brief';
type Head = Readonly<Record<'locale' | 'title' | 'noscript', string>>;

export interface DocumentTemplate {
  /** Content-Security-Policy of the document: its own script and style, and no connection */
  readonly policy: string;
  /** @returns the document up to its data */
  readonly begin: (head: Head) => string;
  /** @returns the data and the end of the document */
  readonly end: (data: object) => string;
}

/** @throws Error if the template has not been built */
export async function readTemplate(folder: URL, name: DocumentName): Promise<DocumentTemplate> {
  const template = await readFile(new URL(`${name}.html`, folder), 'utf8');
  const [begin = '', end = ''] = template.split('{{data}}');
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(begin) ?? [];
  return {
    policy,
    begin: (head) =>
      begin.replace(/\{\{(locale|title|noscript)\}\}/g, (_slot, name: keyof Head) => escapeHtml(head[name])),
    end: (data) => `<script type="application/json" id="data">${inert(JSON.stringify(data))}</script>${end}`,
  };
}

/** @returns the whole document */
export const fillTemplate = ({ begin, end }: DocumentTemplate, data: Head): string => begin(data) + end(data);

/** JSON in a script block: without "<" it cannot end the block or begin a comment. */
const inert = (json: string): string => json.replaceAll('<', '\\u003c');
