/** Formatter of schema violations: one sentence with the field, the value and the expectation. */
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import { invalidRequest, ScenedeltaError } from '../base/errors.js';
import { withoutSecrets } from '../base/redact-url.js';
import { LABEL_PATTERN, NAME_PATTERN, NOT_BLANK_PATTERN } from './patterns.js';

interface SchemaError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
}
type Json = Readonly<Record<string, unknown>>;

/** Most member names and characters of a value in a message: its size must not follow the size of the request. */
const MOST_NAMES = 8;
const MOST_CHARACTERS = 60;
/** Characters of a value that are searched for secrets. More would hold the event loop for long. */
const MOST_SEARCHED = 4096;

/** Meanings of patterns; those of ids and addresses are read by rules, and others are shown by an example. */
const PATTERN_WORDS: Readonly<Record<string, string>> = {
  '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$': 'of 1 to 64 letters, digits, ".", "_" or "-" that begins with a letter or digit',
  [NOT_BLANK_PATTERN]: 'with more than spaces',
  [NAME_PATTERN]: 'without line ends, control characters and marks of direction',
  [LABEL_PATTERN]: 'without spaces at its ends, line ends, control characters and marks of direction',
  '^([0-9]{4}-[0-9]{2}-[0-9]{2}|today|yesterday)$': 'as "2026-06-01", "today" or "yesterday"',
  '^[0-9a-f]{64}$': 'of 64 hexadecimal digits, a to f in lower case',
};
const ID_PATTERN = /^\^([a-z]{3}_)\[0-9a-z\]\{26\}\$$/;
const ADDRESS_PATTERN = /^\^\(?([a-z0-9?|]+)\)?:\/\/\[[^/]+\]\+\$$/;

/**
 * Compiles a schema.
 * @param options.convert whether members that are text are converted to numbers before the check (query and headers)
 * @returns a function from any value to the checked value; it throws ScenedeltaError 'invalid-request' naming the first
 * field that does not fit
 */
export function checker(schema: TSchema, options: { convert?: boolean } = {}) {
  const compiled = Compile(schema);
  return (value: unknown): unknown => {
    const input = options.convert === true ? withNumbers(schema, value) : value;
    if (compiled.Check(input)) return input;
    throw violation(schema, input, compiled.Errors(input) as SchemaError[]);
  };
}

/** Only decimal digits are a number: Value.Convert would read `true` as 1. */
function withNumbers(schema: TSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { properties = {} } = schema as { properties?: Readonly<Record<string, Json>> };
  const convert = ([name, given]: [string, unknown]) => {
    const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
    const isNumber = type === 'integer' || type === 'number';
    return [name, isNumber && typeof given === 'string' && /^-?\d{1,15}$/.test(given) ? Number(given) : given];
  };
  return Object.fromEntries(Object.entries(value).map(convert));
}

function violation(schema: TSchema, value: unknown, errors: readonly SchemaError[]): ScenedeltaError {
  const error = mostSpecific(schema, value, errors);
  if (error === undefined) return invalidRequest('The request does not fit its schema');
  const field = error.instancePath.slice(1);
  const where = field === '' ? 'The request' : field;
  const names = (key: string) => {
    const all = (error.params as Json)[key] as string[];
    const shown = all.slice(0, MOST_NAMES).map((name) => join(field, shortened(name, MOST_CHARACTERS)));
    return all.length > MOST_NAMES ? [...shown, `${all.length - MOST_NAMES} more`] : shown;
  };
  if (error.keyword === 'required') {
    const missing = names('requiredProperties');
    const { properties = {} } = at(schema, error.schemaPath) as { properties?: Readonly<Record<string, Json>> };
    const [first = ''] = (error.params as Json).requiredProperties as string[];
    const expected = properties[first] === undefined ? '' : `, expected ${expectation(properties[first])}`;
    const verb = missing.length > 1 ? 'are' : 'is';
    return refuse(missing[0] ?? '', `${missing.join(' and ')} ${verb} missing${expected}`);
  }
  if (error.keyword === 'additionalProperties') {
    const unknown = names('additionalProperties');
    const known = Object.keys((at(schema, error.schemaPath).properties ?? {}) as Json);
    return refuse(unknown[0] ?? '', `${unknown.join(', ')}: unknown, expected only ${known.join(', ')}`);
  }
  const expected = at(schema, error.schemaPath);
  const found = Value.Pointer.Get(value as object, error.instancePath);
  const count = /^(min|max)Items$/.test(error.keyword) ? ` of ${(found as unknown[]).length}` : '';
  const shown = expected.writeOnly === true ? 'a value that is not shown' : `${describeValue(found)}${count}`;
  return refuse(field, `${where} is ${shown}, expected ${expectation(expected)}`);
}

/**
 * Errors inside the members of a union concern forms that the caller may not have meant, so the union itself is
 * reported. A union with null only marks a value as optional, so the error of its other member is reported.
 */
function mostSpecific(schema: TSchema, value: unknown, errors: readonly SchemaError[]): SchemaError | undefined {
  const union = errors.find((e) => e.keyword === 'anyOf');
  if (union === undefined) return errors.find((e) => e.keyword !== 'boolean') ?? errors[0];
  const members = at(schema, union.schemaPath).anyOf as readonly Json[];
  const meant = members.findIndex((member) => member.type !== 'null');
  const found = Value.Pointer.Get(value as object, union.instancePath);
  if (members.length !== 2 || !members.some((member) => member.type === 'null') || found === null) return union;
  const inside = `${union.schemaPath}/anyOf/${meant}`;
  const nested = errors.filter((e) => e.schemaPath.startsWith(inside));
  return (
    nested.find((e) => e.keyword === 'anyOf' && e !== union) ?? nested.find((e) => e.keyword !== 'boolean') ?? union
  );
}

const refuse = (field: string, detail: string) =>
  new ScenedeltaError('invalid-request', detail, field === '' ? {} : { field });
const join = (field: string, name: string) => (field === '' ? name : `${field}/${name}`);

/** @returns the sub-schema at a path such as '#/properties/before' */
const at = (schema: TSchema, schemaPath: string): Json =>
  schemaPath
    .split('/')
    .slice(1)
    .reduce<Json>((node, key) => (node[key] as Json | undefined) ?? node, schema as Json);

function describeValue(value: unknown): string {
  if (value === undefined) return 'empty';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object')
    return `an object with ${
      Object.keys(value)
        .slice(0, MOST_NAMES)
        .map((name) => shortened(name, MOST_CHARACTERS))
        .join(', ') || 'no members'
    }`;
  if (typeof value !== 'string') return `the ${typeof value} ${String(value)}`;
  const text = JSON.stringify(withoutSecrets(value.slice(0, MOST_SEARCHED)));
  const length = value.length > MOST_SEARCHED ? value.length : text.length;
  return `the string ${shortened(text, MOST_CHARACTERS, length)}`;
}

const shortened = (text: string, most: number, length = text.length): string =>
  length > most ? `${text.slice(0, most)}... (${length} characters)` : text;

function expectation(schema: Json): string {
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.join(', ')}`;
  if (Array.isArray(schema.anyOf)) return String(schema.description ?? 'one of the documented forms');
  const bounds = [
    schema.minimum !== undefined && `>= ${schema.minimum}`,
    schema.exclusiveMinimum !== undefined && `> ${schema.exclusiveMinimum}`,
    schema.maximum !== undefined && `<= ${schema.maximum}`,
    schema.minLength !== undefined && `of at least ${schema.minLength} characters`,
    schema.maxLength !== undefined && `of at most ${schema.maxLength} characters`,
    schema.minItems !== undefined && `of at least ${schema.minItems} items`,
    schema.maxItems !== undefined && `of at most ${schema.maxItems} items`,
  ].filter((bound) => bound !== false);
  if (schema.format === 'date-time') return 'a time with its offset, as 2026-06-01T12:00:00Z';
  const type = String(schema.type ?? 'value');
  if (type === 'object' && schema.properties !== undefined) {
    return `an object with ${Object.keys(schema.properties as Json).join(', ')}`;
  }
  const words = schema.pattern === undefined ? '' : patternWords(String(schema.pattern), schema.examples);
  return [/^[aeiou]/.test(type) ? 'an' : 'a', type, bounds.join(' and '), words]
    .filter((part) => part !== '')
    .join(' ');
}

function patternWords(pattern: string, examples: unknown): string {
  const id = ID_PATTERN.exec(pattern);
  if (id !== null) return `of ${id[1]} and 26 digits or lower-case letters`;
  const schemes = ADDRESS_PATTERN.exec(pattern)?.[1]?.split('|');
  if (schemes !== undefined) {
    return `that begins with ${schemes.map((scheme) => `${scheme.replace('s?', '(s)')}://`).join(' or ')}, without spaces`;
  }
  if (Array.isArray(examples)) return PATTERN_WORDS[pattern] ?? `as ${JSON.stringify(examples[0])}`;
  return PATTERN_WORDS[pattern] ?? `matching ${pattern}`;
}
