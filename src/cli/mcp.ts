/** `scenedelta mcp`: the changes, visits and pictures of a running service as tools for agents (MCP). */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { invalidRequest } from '../base/errors.js';
import { loadConfig } from '../process/config.js';
import { httpAddress } from '../secrets/links.js';
import { baseUrl, bearer, createApiRequest, keyOf } from './api-client.js';
import { createCommand, listenForStop } from './command.js';
import { createMcpServer, readTools } from './mcp/server.js';
import { printError } from './print.js';

interface Options {
  readonly api: string;
  readonly keyFile?: string;
  readonly http?: string;
  readonly allowJobs?: true;
}

export const command = createCommand('mcp')
  .description(
    'Offers a running service to agents by the Model Context Protocol, on stdin and stdout or by HTTP. All tools only ' +
      'read, unless --allow-jobs is given.',
  )
  .option('--api <url>', 'address of the service', 'http://127.0.0.1:8080')
  .option('--key-file <file>', 'file with an API key; default: first-key in DATA_DIR, if it exists')
  .option('--http <address>', 'serve http://ADDRESS/mcp, as 127.0.0.1:8090; each client sends its own API key')
  .option('--allow-jobs', 'also offer the tools that start work: compare, when')
  .action(run);

async function run(options: Options): Promise<void> {
  const config = loadConfig();
  const base = baseUrl(options.api, '--api');
  const tools = await readTools(options.allowJobs === true);
  const { signal, done } = listenForStop();
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  if (options.http === undefined) {
    const server = createMcpServer(tools, createApiRequest(base, bearer(await keyOf(config, options.keyFile))));
    const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve));
    await server.connect(new StdioServerTransport());
    await Promise.race([ended, stopped]);
    await server.close();
    return done();
  }
  // Anyone who reaches the port would act with that key.
  if (options.keyFile !== undefined)
    throw invalidRequest('--key-file and --http: expected one; clients send their key');
  const { host, port } = addressOf(options.http);
  const listener = createServer((request, response) => {
    const server = createMcpServer(tools, createApiRequest(base, request.headers.authorization));
    serve(server, { request, response, maxRequestBodySize: config.jsonLimit }).catch((error: Error) => {
      printError(`scenedelta mcp: ${error.message}`);
      if (!response.headersSent) response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve, reject) => listener.once('error', reject).listen(port, host, resolve));
  printError(`scenedelta mcp: ${httpAddress(host, (listener.address() as AddressInfo).port)}/mcp`);
  await stopped;
  listener.closeAllConnections();
  listener.close();
  done();
}

/** Answers one request. There are no sessions, so that any process may answer the next one. */
async function serve(
  server: ReturnType<typeof createMcpServer>,
  at: { request: IncomingMessage; response: ServerResponse; maxRequestBodySize: number },
): Promise<void> {
  const { request, response, maxRequestBodySize } = at;
  // Only browsers send it; a page must not use an address that the browser reaches and the page does not.
  if (request.headers.origin !== undefined) return void response.writeHead(403).end('no requests of pages\n');
  if (request.url !== '/mcp') return void response.writeHead(404).end('expected /mcp\n');
  if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true, maxRequestBodySize });
  response.once('close', () => void server.close());
  // The declared types of the SDK do not fit exactOptionalPropertyTypes.
  await server.connect(transport as Transport);
  await transport.handleRequest(request, response);
}

/** @throws ScenedeltaError 'invalid-request' */
function addressOf(text: string): { host: string; port: number } {
  const [, bracketed, name, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? name;
  if (host !== undefined && Number(port) <= 65_535 && (bracketed === undefined || isIPv6(bracketed))) {
    return { host, port: Number(port) };
  }
  throw invalidRequest(`--http ${JSON.stringify(text)}: expected an address and a port, as 127.0.0.1:8090`);
}
