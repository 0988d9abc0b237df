/** `scenedelta mcp`: the changes, visits and pictures of a running service as tools for agents (MCP). */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { createCommand, listenForStop, type ServiceOptions, withService } from '../command.js';
import { usage } from '../failure.js';
import { printError } from '../print.js';
import { baseUrl, openService, serviceAt } from '../service.js';
import { createMcpServer, readTools } from './server.js';

/** Largest request of a client in bytes: that of the service's JSON bodies by default. */
const LONGEST_REQUEST = 4 * 1024 * 1024;

interface Options extends ServiceOptions {
  readonly http?: string;
  readonly allowJobs?: true;
}

export const command = withService(
  createCommand('mcp').description(
    'Offers a running service to agents by the Model Context Protocol, on stdin and stdout or by HTTP. All tools only ' +
      'read, unless --allow-jobs is given.',
  ),
)
  .option('--http <address>', 'serve http://ADDRESS/mcp, as 127.0.0.1:8090; each client sends its own API key')
  .option('--allow-jobs', 'also offer the tools that start work: compare, when')
  .action(run);

async function run(options: Options): Promise<void> {
  const tools = await readTools(options.allowJobs === true);
  const { signal, done } = listenForStop();
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  if (options.http === undefined) {
    const server = createMcpServer(tools, (await openService(options)).request);
    const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve));
    await server.connect(new StdioServerTransport());
    await Promise.race([ended, stopped]);
    await server.close();
    return done();
  }
  // Anyone who reaches the port would act with that key.
  if (options.keyFile !== undefined) throw usage('--key-file and --http: expected one; clients send their key');
  const { host, port } = addressOf(options.http);
  const base = baseUrl(options.api, '--api');
  const listener = createServer((request, response) => {
    const server = createMcpServer(tools, serviceAt(base, request.headers.authorization).request);
    serve(server, request, response).catch((error: Error) => {
      printError(`scenedelta mcp: ${error.message}`);
      if (!response.headersSent) response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve, reject) => listener.once('error', reject).listen(port, host, resolve));
  const { port: bound } = listener.address() as AddressInfo;
  printError(`scenedelta mcp: http://${isIPv6(host) ? `[${host}]` : host}:${bound}/mcp`);
  await stopped;
  listener.closeAllConnections();
  listener.close();
  done();
}

/** Answers one request. There are no sessions, so that any process may answer the next one. */
async function serve(
  server: ReturnType<typeof createMcpServer>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Only browsers send it; a page must not use an address that the browser reaches and the page does not.
  if (request.headers.origin !== undefined) return void response.writeHead(403).end('no requests of pages\n');
  if (request.url !== '/mcp') return void response.writeHead(404).end('expected /mcp\n');
  if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
  const transport = new StreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: LONGEST_REQUEST,
  });
  response.once('close', () => void server.close());
  // The declared types of the SDK do not fit exactOptionalPropertyTypes.
  await server.connect(transport as Transport);
  await transport.handleRequest(request, response);
}

/** @throws Failure 'usage' */
function addressOf(text: string): { host: string; port: number } {
  const [, bracketed, name, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? name;
  if (host !== undefined && Number(port) <= 65_535 && (bracketed === undefined || isIPv6(bracketed))) {
    return { host, port: Number(port) };
  }
  throw usage(`--http ${JSON.stringify(text)}: expected an address and a port, as 127.0.0.1:8090`);
}
