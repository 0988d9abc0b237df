/** Documents as the service writes them: their data, and the templates of the build. */
import { pathToFileURL } from 'node:url';

export const DOCUMENTS = pathToFileURL('dist/documents/');

/** @returns the text of the block of a document with this id */
export const blockOf = (html: string, id: string): string | undefined =>
  new RegExp(`<script[^>]* id="${id}"[^>]*>([^<]*)</script>`).exec(html)?.[1];

/** @throws Error for a page without data */
export function dataOf<T>(html: string): T {
  const block = blockOf(html, 'data');
  if (block === undefined) throw new Error('the page has no data');
  return JSON.parse(block) as T;
}
