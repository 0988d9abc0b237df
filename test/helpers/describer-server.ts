/** A language model that answers by script, behind an OpenAI-compatible server on 127.0.0.1. */
import type { ServerResponse } from 'node:http';
import type { DescriberConfig, Meter } from '../../src/describer/describe.js';
import { type Receiver, startReceiver } from './receiver.js';

export interface DescriberServer extends Receiver {
  /** Answers each request from now on. */
  answer: (response: ServerResponse, request: number) => unknown;
}

/** Body of a chat completion with this text. */
export const completion = (content: string): string =>
  JSON.stringify({
    id: 'chatcmpl-1',
    model: 'qwen-vl',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
    usage: { prompt_tokens: 900, completion_tokens: 40, total_tokens: 940 },
  });

/** Text of an answer about region 1. */
export const answerOf = (happened: string, noun: string, sentence: string, more: object = {}): string =>
  JSON.stringify({ changes: [{ region: 1, happened, noun, colour: null }], sentence, ...more });

export async function startDescriberServer(): Promise<DescriberServer> {
  const receiver = await startReceiver((_request, response) => void server.answer(response, receiver.received.length));
  const server: DescriberServer = { ...receiver, answer: (response) => response.end() };
  return server;
}

/** Every next answer is this text of the model. */
export const says =
  (content: string): DescriberServer['answer'] =>
  (response) =>
    response.end(completion(content));

export const describerConfig = (url: string, given: Partial<DescriberConfig> = {}): DescriberConfig => ({
  describerUrl: `${url}/v1`,
  describerModel: 'qwen-vl',
  describerApiKey: null,
  describerFormat: 'json_schema',
  describerAllow: ['127.0.0.0/8'],
  describerAllowPublic: false,
  describerTimeoutMs: 5_000,
  pixelLimit: 10_000_000,
  ...given,
});

/** A meter without limits, with the tokens that were counted. */
export function countingMeter(limitAfter = Number.POSITIVE_INFINITY): Meter & { calls: number; tokens: number } {
  const meter = {
    calls: 0,
    tokens: 0,
    takeCall: async () => (meter.calls++ < limitAfter ? null : 'the limit is reached'),
    addTokens: async (tokens: number) => {
      meter.tokens += tokens;
    },
  };
  return meter;
}
