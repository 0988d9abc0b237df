/** Client for the example pair: sends it over HTTP and saves its heatmap. */
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, run, Stop } from './shell.mjs';

export const EXAMPLE = { before: join(ROOT, 'examples/before.jpg'), after: join(ROOT, 'examples/after.jpg') };

/** Resolves when /readyz answers 200. @throws Stop with its last answer */
export async function waitUntilReady(url, timeoutMs) {
  const until = Date.now() + timeoutMs;
  let last = 'no answer';
  while (Date.now() < until) {
    try {
      const response = await fetch(`${url}/readyz`);
      if (response.ok) return;
      last = `${response.status} ${await response.text()}`;
    } catch (error) {
      last = error.cause?.message ?? error.message;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Stop(`The service was not ready after ${timeoutMs / 1000} s: ${last}`);
}

/** Whether the service has accepted any comparison, finished or waiting. @throws Stop if it does not list them */
export async function hasComparisons(url, headers) {
  const response = await fetch(`${url}/v1/comparisons?limit=1`, { headers });
  const text = await response.text();
  if (!response.ok) throw new Stop(`GET /v1/comparisons answered ${response.status}: ${text}`);
  return JSON.parse(text).items.length > 0;
}

/**
 * @returns {Promise<{ comparison: object, ms: number }>} @throws Stop with the service's answer where it is not a
 *   finished comparison.
 */
export async function compareExample(url, headers) {
  const form = new FormData();
  for (const side of ['before', 'after']) {
    form.append(side, new Blob([readFileSync(EXAMPLE[side])], { type: 'image/jpeg' }), `${side}.jpg`);
  }
  const start = performance.now();
  const response = await fetch(`${url}/v1/comparisons`, {
    method: 'POST',
    body: form,
    headers: { ...headers, prefer: 'wait=60' },
  });
  const body = await response.text();
  const ms = performance.now() - start;
  if (response.status !== 200) throw new Stop(`POST /v1/comparisons answered ${response.status}: ${body}`);
  return { comparison: JSON.parse(body), ms };
}

/** Saves the heatmap over the after frame. @returns its path */
export async function saveHeatmap(url, headers, comparison, folder) {
  // The link of the answer starts with PUBLIC_URL, which may not be reachable from here.
  const link = new URL(`/v1/comparisons/${comparison.id}/heatmaps/after`, url);
  const response = await fetch(link, { headers });
  if (!response.ok) throw new Stop(`GET ${link.pathname} answered ${response.status}: ${await response.text()}`);
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'after-heatmap.png');
  writeFileSync(file, Buffer.from(await response.arrayBuffer()));
  return file;
}

/**
 * The key made on the first start lies in DATA_DIR/first-key, readable by its owner only, so that the service can be
 * tried at once without being open to all users of the machine; Redis keeps only its hash.
 * @returns {Promise<{ headers: object, file: string }>}
 */
export async function firstKey(url, dataDir, env) {
  const file = join(dataDir, 'first-key');
  const headersOf = (secret) => ({ authorization: `Bearer ${secret}` });
  try {
    const headers = headersOf(readFileSync(file, 'utf8').trim());
    const response = await fetch(`${url}/v1/comparisons?limit=1`, { headers });
    if (response.status !== 401) return { headers, file, made: false };
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  const { ok, output } = await run(
    process.execPath,
    [join(ROOT, 'dist/cli/main.js'), 'keys', 'create', '--name', 'first', '--role', 'admin', '--secret-only'],
    { env },
  );
  const secret = output.trim();
  if (!ok || !/^sd_\S+$/.test(secret)) throw new Stop(`The first API key could not be made: ${secret}`);
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  return { headers: headersOf(secret), file, made: true };
}
