/**
 * Writes clients/python/scenedelta/answer.py: the answers of the API as TypedDicts, from openapi/openapi.yaml.
 * With --check it writes nothing, and fails if the file is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readOptions } from './lib/options.mjs';
import { ROOT, runMain, Stop } from './lib/shell.mjs';

const FILE = join(ROOT, 'clients/python/scenedelta/answer.py');
/** Answers of the client; the types that they contain are written, too. */
const ROOTS = ['Comparison', 'Change', 'StreamEvent'];
const HEAD = `"""The answers of the API, written by scripts/write-python-types.mjs from openapi/openapi.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

`;
const PLAIN = { string: 'str', number: 'float', integer: 'int', boolean: 'bool', null: 'None' };

await runMain(() => {
  const { check } = readOptions({ check: { type: 'boolean' } }).values;
  const { schemas } = parse(readFileSync(join(ROOT, 'openapi/openapi.yaml'), 'utf8')).components;
  const text = pythonTypes(schemas);
  if (!check) return writeFileSync(FILE, text);
  if (readFileSync(FILE, 'utf8') !== text) {
    throw new Stop('clients/python/scenedelta/answer.py is out of date: node scripts/write-python-types.mjs');
  }
});

function pythonTypes(schemas) {
  /** name -> lines, in the order of use */
  const classes = new Map();

  /** @returns the name of the class of an object with members */
  const classOf = (name, { properties, required = [] }) => {
    if (classes.has(name)) return name;
    classes.set(name, []); // keeps its place
    const members = Object.entries(properties).map(([member, schema]) => {
      const type = typeOf(schema, name + camelCase(member));
      return [member, required.includes(member) ? type : `NotRequired[${type}]`];
    });
    classes.set(name, writtenClass(name, members));
    return name;
  };

  /** @param name of the class, if the schema needs one */
  const typeOf = (schema, name) => {
    const { $ref, anyOf, enum: values, const: value, type, items, properties } = schema;
    if ($ref !== undefined) {
      const target = $ref.split('/').at(-1);
      return typeOf(schemas[target], camelCase(target));
    }
    if (anyOf !== undefined) return anyOf.map((one, i) => typeOf(one, i === 0 ? name : `${name}${i + 1}`)).join(' | ');
    if (value !== undefined) return `Literal[${JSON.stringify(value)}]`;
    if (values !== undefined) return literalOf(values);
    const types = [type].flat();
    return types
      .map((one) => {
        if (one === 'array') return `list[${typeOf(items, `${name}Item`)}]`;
        if (one === 'object') return properties === undefined ? 'dict[str, Any]' : classOf(name, schema);
        return PLAIN[one] ?? 'Any';
      })
      .join(' | ');
  };

  for (const root of ROOTS) classOf(root, schemas[root]);
  return HEAD + [...classes.values()].map((lines) => `\n${lines.join('\n')}\n`).join('\n');
}

/** @returns the lines, as ruff formats them */
function writtenClass(name, members) {
  // `class` is no name of a member, and a class that has it is written as a call.
  if (members.some(([member]) => member === 'class')) {
    const pairs = members.map(([member, type]) => `        "${member}": "${type.replaceAll('"', "'")}",`);
    return [`${name} = TypedDict(`, `    "${name}",`, '    {', ...pairs, '    },', ')'];
  }
  return [`class ${name}(TypedDict):`, ...members.flatMap(([member, type]) => writtenMember(`${member}: ${type}`))];
}

function writtenMember(text) {
  if (text.length <= 116) return [`    ${text}`];
  const [, before, values] = /^(.*Literal\[)(.*)\]$/.exec(text);
  return [`    ${before}`, ...values.split(', ').map((value) => `        ${value},`), '    ]'];
}

function literalOf(values) {
  const texts = values.filter((one) => one !== null).map((one) => JSON.stringify(one));
  return `Literal[${texts.join(', ')}]${values.includes(null) ? ' | None' : ''}`;
}

function camelCase(name) {
  return name
    .split(/[._]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}
