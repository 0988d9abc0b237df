/** The examples of docs/alerts.md are what the service sends. WRITE_EXAMPLES=1 writes them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import type { TextLimit } from '../../src/endpoints/cut.js';
import { type FormatName, LIMITS, type Limits } from '../../src/endpoints/limits.js';
import { render } from '../../src/endpoints/render.js';
import { SIGNED_FORMATS } from '../../src/endpoints/settings.js';
import { signedHeaders } from '../../src/workers/deliveries/sign-webhook.js';
import { NOON } from '../helpers/changes.js';
import { endpointMessage, SECRET } from '../helpers/endpoints.js';
import { receiverOf, textOf } from '../helpers/strict-receivers.js';

const FILE = 'docs/alerts.md';
/** The request as HTTP shows it; the body is indented for people. */
function example(format: FormatName): string {
  const change = { zone: 'door', caption: 'A red car has appeared on the left.' };
  const request = render(format, endpointMessage('change.opened', change), receiverOf(format));
  const { url, headers } = request;
  const body = textOf(request);
  const id = `dlv_${'1'.repeat(26)}`;
  const signature = SIGNED_FORMATS.includes(format) ? signedHeaders({ id, at: NOON + 1_000, body }, [SECRET]) : {};
  const { host, pathname } = new URL(url);
  const lines = Object.entries({ ...headers, ...signature }).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${pathname} HTTP/1.1`, `host: ${host}`, ...lines, '', JSON.stringify(JSON.parse(body), null, 2)].join(
    '\n',
  );
}

/** The table of limits as Markdown. */
function limitsTable(): string {
  const size = (limit: TextLimit | null) => (limit === null ? '-' : `${limit.most} ${limit.unit}`);
  const bytes = (most: number | null) => (most === null ? '-' : `${most} bytes`);
  const rows = Object.entries<Limits>(LIMITS).map(([format, { title, body, picture, request, rate, source }]) => [
    ...[`[\`${format}\`](${source})`, size(title), size(body), bytes(picture), bytes(request)],
    rate === null ? '-' : `${rate.perMinute} per minute, ${rate.burst} at once`,
  ]);
  const head = ['format', 'title', 'text', 'picture inside', 'request', 'rate'];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Expects the text between two marks of the document to be the given one. */
function expectBetween(begin: string, end: string, expected: string): void {
  const text = readFileSync(FILE, 'utf8');
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(end, from);
  expect(from).toBeGreaterThan(begin.length);
  if (process.env.WRITE_EXAMPLES !== undefined) writeFileSync(FILE, text.slice(0, from) + expected + text.slice(to));
  else expect(text.slice(from, to)).toBe(expected);
}

/** No example: a mail is no request of HTTP, a template has any body, and a bucket gets no alert. */
const OTHERS: readonly FormatName[] = ['email', 'template', 'bucket'];
const HTTP = (Object.keys(LIMITS) as FormatName[]).filter((format) => !OTHERS.includes(format));
it.each(HTTP)('The example of %s is the request that is sent', (format) => {
  const [begin, end] = [`<!-- example: ${format} -->\n\n\`\`\`http\n`, '\n```\n\n<!-- /example -->'];
  expectBetween(begin, end, example(format));
});

it('The table of limits is that of the code', () => {
  expectBetween('<!-- limits -->\n', '<!-- /limits -->', `\n${limitsTable()}\n\n`);
});
