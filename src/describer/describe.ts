/**
 * Describer: asks the language model of the operator about one confirmed change, once, and judges its answer. The
 * caller limits its use.
 */
import type { Config } from '../config.js';
import type { DecodeLimits } from '../frames/decode.js';
import type { Side } from '../images.js';
import { checkUrlSyntax, parseAllowList } from '../outbound/address.js';
import { type Asker, type AskOutcome, createAsker } from '../outbound/ask.js';
import type { Resolve } from '../outbound/guarded-agent.js';
import type { Description, DescriptionReason } from '../schemas/description.js';
import { type Answer, isRefusal, type Refusal, readAnswer, readCompletion, refusal } from './answer.js';
import { picturesOf } from './crops.js';
import type { Evidence } from './evidence.js';
import type { CameraInstructions } from './instructions.js';
import { refute } from './judge.js';
import { ANSWER_TOKENS, requestBody } from './request.js';

/** Most bytes of the server's answer. */
const ANSWER_BYTES = 64 * 1024;
/** Wait before the second request, ms, if the server asks for no other; and the longest that is waited for. */
const RETRY_MS = 2_000;
const MOST_RETRY_MS = 10_000;
const FIELD = 'DESCRIBER_URL';

export type DescriberConfig = Pick<
  Config,
  | 'describerModel'
  | 'describerApiKey'
  | 'describerFormat'
  | 'describerAllow'
  | 'describerAllowPublic'
  | 'describerTimeoutMs'
> & { readonly describerUrl: string } & DecodeLimits;

export interface Meter {
  /** Counts a request. @returns null if it may be sent, else the limit that is reached, for people */
  takeCall(): Promise<string | null>;
  addTokens(tokens: number): Promise<void>;
}

interface DescribeInput extends CameraInstructions {
  /** encoded, with privacy masks painted */
  readonly frames: Readonly<Record<Side, Uint8Array>>;
  /** at least one place */
  readonly evidence: Evidence;
  readonly fullFrames: boolean;
  readonly meter: Meter;
}

export interface Describer {
  /**
   * Never throws because of the server's behaviour.
   * @throws ScenedeltaError if a frame cannot be decoded, and as the meter does
   */
  describe(input: DescribeInput): Promise<Description>;
  close(): Promise<void>;
}

interface Outcome {
  readonly status: Description['status'];
  readonly answer?: Answer;
  readonly reason: Refusal | null;
  readonly model: string | null;
  readonly tokens: Description['tokens'];
}

const ended = (status: 'refused' | 'failed' | 'skipped', reason: Refusal): Outcome => ({
  status,
  reason,
  model: null,
  tokens: null,
});

const REASON_OF: Readonly<Record<Exclude<AskOutcome['kind'], 'ok'>, DescriptionReason>> = {
  failed: 'no-answer',
  refused: 'answer-refused',
  'too-large': 'answer-too-large',
};

/**
 * @param options.clock epoch ms. @param options.wait resolves after ms
 * @throws ScenedeltaError 'url-refused', 'invalid-request' if address or allow list cannot be used
 */
export function createDescriber(
  config: DescriberConfig,
  options: { clock: () => number; wait: (ms: number) => Promise<unknown>; resolve?: Resolve },
): Describer {
  const { clock, wait, resolve } = options;
  const allow = parseAllowList(config.describerAllow, {
    setting: 'DESCRIBER_ALLOW',
    publicToo: config.describerAllowPublic,
  });
  const url = `${checkUrlSyntax(config.describerUrl, { allow, field: FIELD }).href.replace(/\/+$/, '')}/chat/completions`;
  const { describerTimeoutMs: timeoutMs, describerApiKey: apiKey } = config;
  const asker: Asker = createAsker({
    allow,
    field: FIELD,
    timeoutMs,
    now: clock,
    ...(resolve === undefined ? {} : { resolve }),
  });
  const breaker = createBreaker(clock);
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  };

  /** @returns the outcome of the last request; or why none was sent */
  const askTwice = async (body: string, meter: Meter): Promise<AskOutcome | Refusal> => {
    for (let requests = 1; ; requests++) {
      const limit = await meter.takeCall();
      if (limit !== null) return refusal('limit', limit);
      const outcome = await asker.ask(url, { body, headers, maxBytes: ANSWER_BYTES });
      if (outcome.kind === 'ok' || outcome.retry === null || requests === 2) return outcome;
      const afterMs = outcome.retry.afterMs ?? RETRY_MS;
      if (afterMs > MOST_RETRY_MS) return outcome;
      await wait(afterMs);
    }
  };

  const ask = async (input: DescribeInput): Promise<Outcome> => {
    const { evidence, meter } = input;
    const open = breaker.open();
    if (open !== null) return ended('skipped', refusal('unavailable', open));
    const boxes = evidence.map(({ box }) => box);
    const pictures = await picturesOf(input.frames, boxes, { fullFrames: input.fullFrames, decodeLimits: config });
    const places = pictures.crops.map((crops, i) => ({ crops, box: boxes[i] as (typeof boxes)[number] }));
    const request = { model: config.describerModel, jsonMode: config.describerFormat, places, frames: pictures.frames };
    const { preset, instructions } = input;
    const asked = await askTwice(requestBody({ ...request, preset, instructions }), meter);
    if (isRefusal(asked)) return ended('skipped', asked);
    if (asked.kind !== 'ok') {
      breaker.failed();
      return ended('failed', refusal(REASON_OF[asked.kind], asked.error));
    }
    breaker.succeeded();
    const completion = readCompletion(asked.body);
    if (isRefusal(completion)) return ended('refused', completion);
    const { model, tokens } = completion;
    // Without a count of the server at least the longest answer counts.
    await meter.addTokens(tokens === null ? ANSWER_TOKENS : tokens.prompt + tokens.completion);
    const answer = readAnswer(completion.content);
    if (isRefusal(answer)) return { ...ended('refused', answer), model, tokens };
    const reason = refute(answer, evidence);
    return reason === null
      ? { status: 'accepted', answer, reason, model, tokens }
      : { ...ended('refused', reason), model, tokens };
  };

  return {
    async describe(input) {
      const from = clock();
      const { status, answer, reason, model, tokens } = await ask(input);
      const to = clock();
      return {
        status,
        sentence: answer?.sentence ?? null,
        changes: (answer?.changes ?? []).map(({ region, ...claim }) => ({
          ...claim,
          box: (input.evidence[region - 1] as Evidence[number]).box,
        })),
        reason,
        preset: input.preset,
        model,
        ms: Math.max(0, Math.round(to - from)),
        tokens,
        at: new Date(to).toISOString(),
      };
    },
    close: () => asker.close(),
  };
}

/** Failures in a row that open it. */
const MOST_FAILURES = 5;
const PAUSE_MS = 5 * 60_000;

/** @param clock epoch ms */
function createBreaker(clock: () => number) {
  let failures = 0;
  let openUntil = 0;
  return {
    /** @returns null if the server may be asked, else the reason for people */
    open(): string | null {
      if (clock() >= openUntil) return null;
      return `the server failed ${failures} times in a row, so it is not asked until ${new Date(openUntil).toISOString()}`;
    },
    succeeded(): void {
      failures = 0;
    },
    failed(): void {
      failures++;
      if (failures >= MOST_FAILURES) openUntil = clock() + PAUSE_MS;
    },
  };
}
