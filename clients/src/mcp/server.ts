/** The MCP server: its tools and pictures, each read from the API with the key of the client. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  type ContentBlock,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type Tool as ToolDescription,
} from '@modelcontextprotocol/sdk/types.js';
import { Failure, failureOf, refused } from '../failure.js';
import { type ApiRequest, reasonOf } from '../service.js';
import { VERSION } from '../version.js';
import { type Operation, readOperations } from './operations.js';
import { type Item, TOOLS, type Tool } from './tools.js';

type Arguments = Readonly<Record<string, unknown>>;
interface Overview {
  readonly detail: string;
  readonly last_frame_at: string | null;
  readonly comparison: string | null;
}
interface OfferedTool {
  readonly description: ToolDescription;
  call(api: ApiRequest, given: Arguments, signal: AbortSignal): Promise<ContentBlock[]>;
}

const INSTRUCTIONS =
  'Fixed cameras that are compared with themselves. `brief` says what happened on a day; `changes` and `visits` have ' +
  'the details, with ids of comparisons; `picture` shows a frame. Captions can be wrong: `ask` checks a statement.';
const FRAME_URI = /^scenedelta:\/\/comparisons\/(cmp_[0-9a-z]{26})\/frames\/(before|after)$/;
const CAMERA_URI = /^scenedelta:\/\/cameras\/([^/]+)\/picture$/;
const frameUri = (comparison: string, side: string) => `scenedelta://comparisons/${comparison}/frames/${side}`;
/** Sentences of scenes and pictures come from outside: no tool reaches further than the service. */
const READS = { readOnlyHint: true, openWorldHint: false };
const WORKS = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

/** @param makesJobs whether tools that leave work or results behind are offered, too */
export async function readTools(makesJobs: boolean): Promise<Readonly<Record<string, OfferedTool>>> {
  const operationOf = await readOperations();
  const offered: Record<string, OfferedTool> = { picture: PICTURE };
  for (const [name, tool] of Object.entries(TOOLS)) {
    if (makesJobs || !tool.makesJobs) offered[name] = offer(name, tool, operationOf(tool.operation));
  }
  return offered;
}

/** @param api requests with the key of the client that is connected */
export function createMcpServer(tools: Readonly<Record<string, OfferedTool>>, api: ApiRequest): Server {
  const server = new Server(
    { name: 'scenedelta', version: VERSION },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.values(tools).map(({ description }) => description),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }): Promise<CallToolResult> => {
    const tool = tools[params.name];
    try {
      if (tool === undefined) throw refused(`no tool ${params.name}: expected ${Object.keys(tools).join(', ')}`);
      return { content: await tool.call(api, params.arguments ?? {}, signal) };
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      return { content: [{ type: 'text', text: thrown.message }], isError: true };
    }
  });
  server.setRequestHandler(ListResourcesRequestSchema, async ({ params }) => {
    const query = new URLSearchParams({ overview: 'true', ...(params?.cursor && { cursor: params.cursor }) });
    const page = (await (await read(api, `/v1/cameras?${query}`)).json()) as {
      items: { id: string; name: string | null; overview: Overview }[];
      next_cursor: string | null;
    };
    return {
      resources: page.items
        .filter(({ overview }) => overview.comparison !== null)
        .map(({ id, name, overview }) => ({
          ...{ uri: `scenedelta://cameras/${id}/picture`, name: name ?? id, mimeType: 'image/jpeg' },
          description: overview.detail,
        })),
      ...(page.next_cursor === null ? {} : { nextCursor: page.next_cursor }),
    };
  });
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [
      { uriTemplate: 'scenedelta://cameras/{id}/picture', name: 'newest picture of a camera' },
      { uriTemplate: frameUri('{id}', '{side}'), name: 'frame of a comparison; side: before or after' },
    ],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    const [, comparison, side = 'after'] = FRAME_URI.exec(uri) ?? [];
    const [, camera] = CAMERA_URI.exec(uri) ?? [];
    if (comparison === undefined && camera === undefined) throw refused(`${uri}: expected a picture's address`);
    const { data, mimeType } = await frameOf(api, comparison ?? (await newestOf(api, camera ?? '')).comparison, side);
    return { contents: [{ uri, mimeType, blob: data }] };
  });
  return server;
}

const PICTURE: OfferedTool = {
  description: {
    name: 'picture',
    description: 'The newest frame of a camera, or one of the two frames of a comparison. Privacy zones are black.',
    inputSchema: {
      type: 'object',
      properties: {
        camera: { type: 'string', description: 'Id of a camera; or `comparison`.' },
        comparison: { type: 'string', description: 'Id of a comparison, as a change or a visit names it.' },
        side: { enum: ['before', 'after'], default: 'after' },
        size: { enum: ['small', 'full'], default: 'small', description: 'small: at most 480 px on each side.' },
      },
      additionalProperties: false,
    },
    annotations: READS,
  },
  async call(api, { camera, comparison, side = 'after', size = 'small' }, signal) {
    if ((camera === undefined) === (comparison === undefined)) {
      throw refused('expected either `camera` or `comparison`');
    }
    if (comparison !== undefined) {
      return [{ type: 'image', ...(await frameOf(api, String(comparison), String(side), String(size), signal)) }];
    }
    const newest = await newestOf(api, String(camera), signal);
    return [
      { type: 'text', text: `${newest.last_frame_at}: ${newest.detail}` },
      { type: 'image', ...(await frameOf(api, newest.comparison, 'after', String(size), signal)) },
    ];
  },
};

function offer(name: string, tool: Tool, operation: Operation): OfferedTool {
  const { only = Object.keys(operation.arguments), fixed = {} } = tool;
  const known = only.map((key) => {
    const argument = operation.arguments[key];
    if (argument === undefined) throw new Error(`${tool.operation} has no argument ${key}`);
    return [key, argument] as const;
  });
  return {
    description: {
      name,
      description: tool.description,
      annotations: tool.makesJobs ? WORKS : READS,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(known.map(([key, { schema }]) => [key, schema])),
        required: known.filter(([, argument]) => argument.required).map(([key]) => key),
        additionalProperties: false,
      },
    },
    async call(api, given, signal) {
      const unknown = Object.keys(given).find((key) => !only.includes(key));
      if (unknown !== undefined) throw refused(`no argument ${unknown}: expected ${only.join(', ')}`);
      const { path, init } = requestOf(operation, { ...given, ...fixed });
      const answer = await read(api, path, { ...init, signal });
      const text = await answer.text();
      if (tool.shows === undefined) return [{ type: 'text', text }];
      const { items, ...page } = JSON.parse(text) as { items: readonly Item[] };
      const shown = items.map((item) => Object.fromEntries(tool.shows?.map((key) => [key, item[key]]) ?? []));
      return [
        { type: 'text', text: JSON.stringify({ items: shown, ...page }) },
        ...items.flatMap((item): ContentBlock[] => {
          const picture = tool.picture?.(item);
          if (picture === undefined) return [];
          const uri = frameUri(picture.comparison, picture.side);
          return [{ type: 'resource_link', uri, name: `${item.camera}: ${item.caption}` }];
        }),
      ];
    },
  };
}

function requestOf(operation: Operation, given: Arguments): { path: string; init: RequestInit } {
  const of = (place: string) => Object.entries(given).filter(([key]) => operation.arguments[key]?.in === place);
  const path = of('path').reduce(
    (filled, [key, value]) => filled.replace(`{${key}}`, encodeURIComponent(String(value))),
    operation.path,
  );
  const query = new URLSearchParams(of('query').map(([key, value]) => [key, String(value)] as [string, string]));
  const body = Object.fromEntries(of('body'));
  return {
    path: query.size === 0 ? path : `${path}?${query}`,
    init: {
      method: operation.method.toUpperCase(),
      ...(operation.method === 'get'
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    },
  };
}

/** @throws Failure with title and detail of a refusal */
async function read(api: ApiRequest, path: string, init?: RequestInit): Promise<Response> {
  const response = await api(path, init);
  if (response.ok) return response;
  throw failureOf(response.status, `${response.status} ${await reasonOf(response)}`);
}

async function newestOf(api: ApiRequest, camera: string, signal?: AbortSignal) {
  const answer = await read(api, `/v1/cameras/${encodeURIComponent(camera)}`, signal && { signal });
  const { overview } = (await answer.json()) as { overview: Overview };
  const { comparison } = overview;
  if (comparison === null) throw refused(`${camera} has no picture: ${overview.detail}`);
  return { ...overview, comparison };
}

async function frameOf(api: ApiRequest, comparison: string, side: string, size = 'full', signal?: AbortSignal) {
  const path = `/v1/comparisons/${encodeURIComponent(comparison)}/frames/${encodeURIComponent(side)}`;
  const answer = await read(api, `${path}?${new URLSearchParams({ size })}`, signal && { signal });
  const data = Buffer.from(await answer.arrayBuffer()).toString('base64');
  return { data, mimeType: answer.headers.get('content-type') ?? 'image/jpeg' };
}
