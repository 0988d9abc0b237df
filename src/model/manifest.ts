/**
 * Reader of bundles: a bundle is a folder with three or more ONNX graphs and a manifest (format scenedelta-bundle/1),
 * written by the training code. Reading checks the schema, the cross-references and the file hashes; captioner.ts
 * checks the shapes of the graphs when it opens them. The keys keep the spelling of the format: `glance` is a region
 * crop.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import { BundleError, COARSE_STRIDE } from './bundle.js';
import { CheckSchema, contradictionOfCheck } from './check-schema.js';
import { FactCalibrationSchema } from './fact-calibration.js';
import { FileName, GraphsSchema } from './graphs-schema.js';
import { JudgeSchema } from './judge-schema.js';
import { brokenTree, LensSchema } from './lens-schema.js';
import { NamesSchema } from './names-schema.js';
import { PeopleRuleSchema } from './people-schema.js';
import { contradictionOfSearch, SearchManifestSchema } from './search-manifest.js';

export const MANIFEST_FILE = 'manifest.json';
const BUNDLE_FORMAT = 'scenedelta-bundle/1';

const strict = { additionalProperties: false };
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Count = Type.Integer({ minimum: 1 });
const Probability = Type.Number({ minimum: 0, maximum: 1 });
const Grid = Type.Tuple([Count, Count], { description: 'rows, columns' });
const Channels = Type.Tuple([Type.Number(), Type.Number(), Type.Number()]);

const ManifestSchema = Type.Object(
  {
    format: Type.Literal(BUNDLE_FORMAT),
    name: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,63}$' }),
    version: Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?$' }),
    architecture: Type.String(),
    licence: Type.String(),
    files: Type.Record(FileName, Sha256, strict),
    input: Type.Object(
      {
        width: Type.Integer({ minimum: COARSE_STRIDE, multipleOf: COARSE_STRIDE }),
        height: Type.Integer({ minimum: COARSE_STRIDE, multipleOf: COARSE_STRIDE }),
        resize: Type.Literal('antialiased-triangle'),
        channels: Type.Literal('rgb'),
        mean: Channels,
        std: Type.Tuple([
          Type.Number({ exclusiveMinimum: 0 }),
          Type.Number({ exclusiveMinimum: 0 }),
          Type.Number({ exclusiveMinimum: 0 }),
        ]),
      },
      strict,
    ),
    glance: Type.Union([
      Type.Object(
        {
          size: Type.Integer({ minimum: COARSE_STRIDE, multipleOf: COARSE_STRIDE }),
          regions: Count,
          margin: Type.Number({ minimum: 1 }),
          min_side: Probability,
        },
        strict,
      ),
      Type.Null(),
    ]),
    graphs: GraphsSchema,
    attention: Type.Object(
      {
        grid: Grid,
        glance: Type.Union([Grid, Type.Null()]),
        /** rows of the memory: `extra` without a place, then a grid per side; absent = no extra, 1 side */
        layout: Type.Optional(
          Type.Object(
            { sides: Type.Union([Type.Literal(1), Type.Literal(2)]), extra: Type.Integer({ minimum: 0 }) },
            strict,
          ),
        ),
      },
      strict,
    ),
    vocabulary: Type.Array(Type.String(), { minItems: 1 }),
    special: Type.Object(
      {
        pad: Type.Integer({ minimum: 0 }),
        unk: Type.Integer({ minimum: 0 }),
        start: Type.Integer({ minimum: 0 }),
        end: Type.Integer({ minimum: 0 }),
      },
      strict,
    ),
    max_length: Count,
    kinds: Type.Array(Type.String(), { minItems: 2 }),
    nuisances: Type.Array(Type.String()),
    regions: Type.Object({ threshold: Probability, min_cells: Count, strong: Type.Optional(Probability) }, strict),
    /** words of the graph `names`; absent with it */
    names: Type.Optional(NamesSchema),
    /** decides what happened, of a bundle with names (pipeline/judge.ts) */
    judge: Type.Optional(JudgeSchema),
    /** separates changes of the scene from things on the lens (pipeline/lens.ts); absent: all are of the scene */
    lens: Type.Optional(LensSchema),
    /** of the graph `people`; absent with it */
    people: Type.Optional(PeopleRuleSchema),
    /** of the graph `check`; absent with it */
    check: Type.Optional(CheckSchema),
    /** of the graphs `pair` and `text`; absent with them */
    search: Type.Optional(SearchManifestSchema),
    /** caption of an unchanged pair; absent = the sentences of `language` */
    unchanged_sentence: Type.Optional(Type.String({ minLength: 1 })),
    /** moving: the frames may have any two viewpoints, so a turned camera is no tampering; absent = fixed */
    camera: Type.Optional(Type.Union([Type.Literal('fixed'), Type.Literal('moving')])),
    /** camera displacement, as a fraction of the frame's width, from which `after` is aligned; absent = never */
    align_from: Type.Optional(Type.Number({ minimum: 0 })),
    calibration: Type.Object(
      {
        change: Type.Object({ scale: Type.Number({ exclusiveMinimum: 0 }), offset: Type.Number() }, strict),
        threshold: Probability,
        operating_points: Type.Array(Type.Object({ false_alarm_rate: Probability, threshold: Probability })),
        /** agreement of the features (agreement.ts) below which two frames may show different scenes */
        least_agreement: Type.Optional(Type.Number({ minimum: -1, maximum: 1 })),
        nuisances: Type.Record(Type.String(), Probability),
        facts: Type.Optional(FactCalibrationSchema),
      },
      strict,
    ),
    metrics: Type.Record(Type.String(), Type.Unknown()),
    training_data: Type.Array(Type.Object({ name: Type.String(), licence: Type.String() })),
    configuration: Type.Record(Type.String(), Type.Unknown()),
    seeds: Type.Array(Type.Integer()),
    cost: Type.Record(Type.String(), Type.Unknown()),
    command: Type.String(),
  },
  strict,
);
export type BundleManifest = Static<typeof ManifestSchema>;
/** How region crops are cut; the manifest spells a region crop `glance`. */
export type CropRule = NonNullable<BundleManifest['glance']>;

/** A bundle as plain data, so that it can be sent to a thread. */
export interface Bundle {
  readonly directory: string;
  readonly manifest: BundleManifest;
  /** of `bundleSha256` */
  readonly sha256: string;
}

/** @throws BundleError with the file and its fault */
export async function loadBundle(directory: string): Promise<Bundle> {
  const bundle = await readBundle(directory);
  await checkFiles(bundle);
  return bundle;
}

/** Reads the manifest alone: `checkFiles` is still to be called. @throws BundleError with the manifest and its fault */
export async function readBundle(directory: string): Promise<Bundle> {
  const path = join(directory, MANIFEST_FILE);
  const manifest = parseManifest(await read(path), path);
  return { directory, manifest, sha256: bundleSha256(manifest.files) };
}

/** @throws BundleError if a file is missing, or is another one than the manifest says */
export async function checkFiles({ directory, manifest }: Bundle): Promise<void> {
  for (const [file, expected] of Object.entries(manifest.files)) {
    const filePath = join(directory, file);
    const actual = sha256(await read(filePath));
    if (actual !== expected) {
      throw new BundleError(filePath, `sha256 is ${actual}, the manifest says ${expected}`);
    }
  }
}

/** @param path of the manifest, for messages. @throws BundleError */
function parseManifest(bytes: Uint8Array, path: string): BundleManifest {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new BundleError(path, `is not JSON: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
  // Compiled: the nodes of the trees are thousands of values, which `Value.Check` takes a tenth of a second for.
  if (!Compile(ManifestSchema).Check(json)) throw new BundleError(path, firstFault(json));
  const contradiction = findContradiction(json);
  if (contradiction !== null) throw new BundleError(path, contradiction);
  return json;
}

/** @returns the sha256 over the lines "<file> <sha256>\n", sorted by file: one identity for all files */
export function bundleSha256(files: Readonly<Record<string, string>>): string {
  const lines = Object.keys(files)
    .sort()
    .map((file) => `${file} ${files[file]}\n`);
  return sha256(lines.join(''));
}

function firstFault(json: unknown): string {
  const errors = [...Value.Errors(ManifestSchema, json)];
  // An unknown or missing key says more than the union or the pattern that fails because of it.
  const error = errors.find((e) => e.keyword === 'additionalProperties' || e.keyword === 'required') ?? errors[0];
  if (error === undefined) return 'does not fit the schema';
  const where = error.instancePath === '' ? 'the manifest' : error.instancePath;
  if (error.keyword === 'additionalProperties') {
    return `${where} has the unknown key ${quoted(error.params.additionalProperties)}`;
  }
  if (error.keyword === 'required') return `${where} lacks the key ${quoted(error.params.requiredProperties)}`;
  const value = Value.Pointer.Get(json, error.instancePath);
  return `${where} ${error.message}, and is ${JSON.stringify(value)?.slice(0, 80)}`;
}

const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(', ');

/** @returns a contradiction between parts of the manifest, which a schema cannot express, or null */
function findContradiction(manifest: BundleManifest): string | null {
  const { graphs, glance, attention, vocabulary, special, calibration, nuisances } = manifest;
  for (const [name, graph] of Object.entries(graphs)) {
    if (!(graph.file in manifest.files)) return `/graphs/${name}/file is ${graph.file}, which /files does not list`;
  }
  const contradiction = contradictionOfOptional(manifest) ?? contradictionOfSearch(manifest);
  if (contradiction !== null) return contradiction;
  if ((glance === null) !== (attention.glance === null)) {
    const state = (value: unknown) => (value === null ? 'null' : 'set');
    return `/glance is ${state(glance)} but /attention/glance is ${state(attention.glance)}`;
  }
  if (glance !== null && attention.glance !== null) {
    const cells = glance.size / COARSE_STRIDE;
    if (attention.glance[0] !== cells || attention.glance[1] !== cells) {
      const expected = `${cells} x ${cells} for crops of ${glance.size} px`;
      return `/attention/glance is ${attention.glance.join(' x ')}, expected ${expected}`;
    }
  }
  const ids = Object.entries(special);
  for (const [name, id] of ids) {
    if (id >= vocabulary.length) return `/special/${name} is ${id}, but the vocabulary has ${vocabulary.length} words`;
  }
  if (new Set(ids.map(([, id]) => id)).size !== ids.length) return '/special uses one id for two purposes';
  if (new Set(vocabulary).size !== vocabulary.length) return '/vocabulary holds a word twice';
  if (manifest.kinds[0] !== 'none') return `/kinds starts with ${manifest.kinds[0]}, expected "none"`;
  for (const nuisance of nuisances) {
    if (!(nuisance in calibration.nuisances)) return `/calibration/nuisances lacks the key ${quoted([nuisance])}`;
  }
  for (const name of Object.keys(calibration.nuisances)) {
    if (!nuisances.includes(name))
      return `/calibration/nuisances has ${quoted([name])}, which /nuisances does not list`;
  }
  return null;
}

/** Parts of a captioner that describes locations. One of full frames, which has no region crops, has none of them. */
const PARTS_ABOUT_LOCATIONS = ['names', 'people', 'check', 'search'] as const;

function contradictionOfOptional(manifest: BundleManifest): string | null {
  const { names, judge, people, check, lens, graphs, glance } = manifest;
  const part = PARTS_ABOUT_LOCATIONS.find((one) => manifest[one] !== undefined);
  if (glance === null && part !== undefined) {
    return `/${part} is set but /glance is null: a captioner of full frames has none of ${PARTS_ABOUT_LOCATIONS.join(', ')}`;
  }
  for (const one of ['names', 'people', 'check'] as const) {
    if ((manifest[one] === undefined) !== (graphs[one] === undefined))
      return `/${one} and /graphs/${one}: one is set alone`;
  }
  const contradiction = check === undefined ? null : contradictionOfCheck(check);
  if (contradiction !== null) return contradiction;
  if (people !== undefined && names === undefined) return '/people is set but /names is not';
  const tree = lens === undefined ? -1 : brokenTree(lens);
  if (tree >= 0) return `/lens/trees/${tree} has a node whose followers are not nodes behind it`;
  if (lens !== undefined && names === undefined) return '/lens is set but /names is not';
  if (names === undefined) return judge === undefined ? null : '/judge is set but /names is not';
  if (judge === undefined) return '/judge is missing: `python -m training.fits judge --write BUNDLE` fits it';
  const { weights } = names.setting ?? {};
  const channels = graphs.features.outputs.find(({ name }) => name === 'coarse')?.shape[1];
  if (weights !== undefined && weights.length !== channels) {
    return `/names/setting has ${weights.length} weights, expected ${channels}: \`python -m training.fits setting\` fits it`;
  }
  return names.nouns[0] === 'nothing' ? null : `/names/nouns starts with ${names.nouns[0]}, expected "nothing"`;
}

async function read(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new BundleError(path, code === 'ENOENT' ? 'is missing' : `cannot be read (${code})`, { cause: error });
  }
}

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
