/** Sender of one hostile image in every way that the service takes frames. */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, FormData, request } from 'undici';

const CAMERA = 'hostile';
const LATEST_MS = 600_000;
/** Frames above this size go as a form: JSON has a smaller limit, which would refuse them before they are decoded. */
const LARGEST_JSON = 2_000_000;
const dispatcher = new Agent({ connections: 8, headersTimeout: 150_000, bodyTimeout: 150_000 });

/** A server that answers every request with the image that was offered last. */
export async function startFrameServer() {
  let offered;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': offered.type, 'content-length': offered.bytes.length });
    response.end(offered.bytes);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    offer(image) {
      offered = image;
      return `http://127.0.0.1:${server.address().port}/frame.jpg`;
    },
    close: () => server.close(),
  };
}

const formOf = (frames, type) => {
  const form = new FormData();
  for (const [name, bytes] of Object.entries(frames)) form.append(name, new Blob([bytes], { type }), `${name}.jpg`);
  return form;
};

async function send(url, path, options) {
  const headers = { prefer: 'wait=60', ...options.headers };
  const { statusCode, body } = await request(url + path, { method: 'POST', dispatcher, ...options, headers });
  const text = await body.text();
  return statusCode === 202 ? outcomeOf(url, text) : { status: statusCode, text };
}

/** Waits on, because the wall time of an outcome depends on other programs. @param text of the answer 202 */
async function outcomeOf(url, text) {
  const until = Date.now() + LATEST_MS;
  while (Date.now() < until) {
    await sleep(1000);
    const { body } = await request(`${url}/v1/comparisons/${JSON.parse(text).id}`, { dispatcher });
    const found = await body.json();
    if (found.finished_at !== null) return { status: 200, text: JSON.stringify(found) };
  }
  return { status: 202, text };
}
const sendJson = (url, path, body, options) =>
  send(url, path, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
    ...options,
  });

/**
 * @param {{ url: string, good: Buffer, server: Awaited<ReturnType<typeof startFrameServer>> }} target
 * @returns {Record<string, (image: import('./images.mjs').HostileImage) => Promise<{ status: number, text: string }>>}
 */
export function waysToSend({ url, good, server }) {
  const form = ({ bytes, type }) =>
    send(url, '/v1/comparisons', { body: formOf({ before: good, after: bytes }, type) });
  return {
    form,
    'both frames': ({ bytes, type }) =>
      send(url, '/v1/comparisons', { body: formOf({ before: bytes, after: bytes }, type) }),
    base64: (image) =>
      image.bytes.length > LARGEST_JSON
        ? form(image)
        : sendJson(url, '/v1/comparisons', {
            before: good.toString('base64'),
            after: { base64: image.bytes.toString('base64') },
          }),
    address: (image) =>
      sendJson(url, '/v1/comparisons', {
        before: good.toString('base64'),
        after: { url: server.offer(image) },
      }),
    'masked camera': ({ bytes, type }) =>
      send(url, `/v1/cameras/${CAMERA}/frames`, { body: formOf({ frame: bytes }, type) }),
    reference: (image) =>
      image.bytes.length > LARGEST_JSON
        ? form(image)
        : sendJson(
            url,
            `/v1/cameras/${CAMERA}-reference`,
            { before: 'reference', reference: image.bytes.toString('base64') },
            { method: 'PUT' },
          ),
  };
}

/** Makes the camera whose frames the API itself decodes, because it has a privacy zone. */
export async function makeCamera(url) {
  const polygon = [
    [0.1, 0.1],
    [0.9, 0.1],
    [0.5, 0.9],
  ];
  const body = { zones: [{ id: 'window', type: 'privacy', polygon }] };
  const { status, text } = await sendJson(url, `/v1/cameras/${CAMERA}`, body, { method: 'PUT' });
  if (status !== 201) throw new Error(`the camera was not made: ${status} ${text}`);
}
