/**
 * The answer of the describer: the chat completion of its server, and the JSON object in it. Both are read strictly; a
 * foreign text reaches a message only as plain text. Pure.
 */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { literals, nullable } from '../schemas/constructors.js';
import { type DescriptionReason, HAPPENED, SENTENCE_WORDS } from '../schemas/description.js';

/** Why an answer is not taken. */
export interface Refusal {
  readonly code: DescriptionReason;
  /** the given value and the expected one, at most 300 characters */
  readonly detail: string;
}

interface Completion {
  /** the model's text */
  readonly content: string;
  /** as the server names it; null: it does not */
  readonly model: string | null;
  readonly tokens: { readonly prompt: number; readonly completion: number } | null;
}

const closed = { additionalProperties: false } as const;
const AnswerSchema = Type.Object(
  {
    changes: Type.Array(
      Type.Object(
        {
          region: Type.Integer({ minimum: 1 }),
          happened: literals(HAPPENED),
          noun: Type.String({ maxLength: 60 }),
          colour: nullable(Type.String({ maxLength: 40 })),
        },
        closed,
      ),
      { minItems: 1, maxItems: 16 },
    ),
    sentence: Type.String(),
  },
  closed,
);
/** With plain texts alone. */
export type Answer = Static<typeof AnswerSchema>;

const TokenCount = Type.Integer({ minimum: 0, maximum: 10_000_000 });
const CompletionSchema = Type.Object({
  choices: Type.Array(Type.Object({ message: Type.Object({ content: Type.String() }) }), { minItems: 1 }),
});
const UsageSchema = Type.Object({ usage: Type.Object({ prompt_tokens: TokenCount, completion_tokens: TokenCount }) });
const ModelSchema = Type.Object({ model: Type.String({ minLength: 1 }) });

const MOST_DETAIL = 300;
export const refusal = (code: DescriptionReason, detail: string): Refusal => ({
  code,
  detail: detail.slice(0, MOST_DETAIL),
});

/** @param body of the server's answer */
export function readCompletion(body: string): Completion | Refusal {
  const parsed = parseJson(body);
  if (!Value.Check(CompletionSchema, parsed)) {
    return refusal('not-json', 'the server answered without choices[0].message.content, expected a chat completion');
  }
  const usage = Value.Check(UsageSchema, parsed) ? parsed.usage : null;
  return {
    content: parsed.choices[0]?.message.content ?? '',
    model: Value.Check(ModelSchema, parsed) ? plainName(parsed.model) : null,
    tokens: usage && { prompt: usage.prompt_tokens, completion: usage.completion_tokens },
  };
}

/** @param content the model's text, which must be one JSON object and nothing else */
export function readAnswer(content: string): Answer | Refusal {
  const parsed = parseJson(content);
  if (parsed === undefined) return refusal('not-json', 'the model wrote no JSON, expected one object and nothing else');
  if (!Value.Check(AnswerSchema, parsed)) {
    const [first] = Value.Errors(AnswerSchema, parsed);
    const where = plainText(first?.instancePath.replaceAll('/', ' ') ?? '') || 'the whole object';
    return refusal('not-json', `the answer does not fit its schema at ${where}: ${plainText(first?.message ?? '')}`);
  }
  const raw = parsed.sentence.trim();
  if (raw.length > LONGEST_TEXT) {
    return refusal('too-long', `the sentence has ${raw.length} characters, expected at most ${SENTENCE_WORDS} words`);
  }
  const sentence = plainText(raw);
  const words = sentence.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  if (words === 0) return refusal('empty', 'the sentence is empty without links and markup, expected one sentence');
  if (hasAddress(raw)) {
    return refusal('unclear-sentence', 'the sentence names an address, and is cut without it; expected plain words');
  }
  if (words > SENTENCE_WORDS || sentence.length > 400) {
    return refusal('too-long', `the sentence has ${words} words, expected at most ${SENTENCE_WORDS}`);
  }
  if (/[\r\n]/.test(raw) || /[.!?;:]\s*[^\s.!?]/.test(sentence)) {
    return refusal('not-one-sentence', 'several sentences or lines came, expected one sentence');
  }
  const changes = parsed.changes.map(({ noun, colour, ...claim }) => ({
    ...claim,
    noun: plainText(noun).toLowerCase(),
    colour: colour === null ? null : plainText(colour) || null,
  }));
  return { changes, sentence };
}

export const isRefusal = (value: object): value is Refusal => 'code' in value;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Name of a model, e.g. "Qwen/Qwen2.5-VL-7B-Instruct". */
const plainName = (name: string): string | null => name.slice(0, 128).replace(/[^\w ./:@+-]/g, '') || null;

/** Longest text that is read at all, so that no pattern below runs for long. */
const LONGEST_TEXT = 2_000;

type Rule = readonly [pattern: RegExp, by: string];

const MARKUP: readonly Rule[] = [
  // Invisible characters join the letters of a word, so that they leave no space.
  [/[\p{Cf}\p{Co}\p{Cs}]/gu, ''],
  [/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' '],
  [/<[^>]{0,500}>/g, ' '],
  // The text of a link or picture stays, its address goes.
  [/!?\[([^\]]{0,300})\]\([^)]{0,500}\)/g, '$1'],
];
const ADDRESSES: readonly Rule[] = [
  [/\b(?:[a-z][a-z0-9+.-]{0,30}:\/\/|www\.|(?:javascript|data|mailto|tel|file):)\S*/gi, ' '],
  [/\S{0,100}@\S{0,100}/g, ' '],
  // Host names: a dot between letters.
  [/\b[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){0,9}\.\p{L}{2,24}\b(?:[/:?#]\S*)?/gu, ' '],
];
const REST: readonly Rule[] = [
  // Escaped, because only these characters are left.
  [/[^\p{L}\p{M}\p{N} .,;:!?'’%-]/gu, ' '],
  [/ +/g, ' '],
  [/ (?=[.,;:!?])/g, ''],
];

const without = (text: string, rules: readonly Rule[]): string =>
  rules.reduce((left, [pattern, by]) => left.replace(pattern, by), text);
const withoutMarkup = (text: string): string => without(text.slice(0, LONGEST_TEXT).normalize('NFKC'), MARKUP);

/** @param text at most LONGEST_TEXT characters are read */
export const plainText = (text: string): string => without(withoutMarkup(text), [...ADDRESSES, ...REST]).trim();

/** Whether the text names an address, so that its plain text lacks a part of the sentence. */
function hasAddress(text: string): boolean {
  const left = withoutMarkup(text);
  return ADDRESSES.some(([pattern]) => left.search(pattern) >= 0);
}
