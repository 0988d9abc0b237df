import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Value } from 'typebox/value';
import { FITTED } from '../../src/viewpoint/fitted.js';
import { FittedSchema } from '../../src/viewpoint/fitted-schema.js';

interface Plate {
  readonly id: string;
  readonly licence: string;
}

describe('the material of fit:viewpoint', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sd-data-'));
    await Promise.all(['plates', 'sprites'].map((name) => mkdir(join(folder, name))));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is plates that may be shipped and share no camera with the development pairs, listed by licence', async () => {
    const usable = {
      dev_scene: false,
      shippable: true,
      ground: [{}],
      licence: 'CC0-1.0 (a library)',
      source: 'a',
    };
    const plates = [
      { ...usable, id: 'usable' },
      { ...usable, id: 'another', licence: 'CC-BY-4.0', source: 'one picture of a collection' },
      { ...usable, id: 'unclear', shippable: false, licence: 'none stated' },
      { ...usable, id: 'seen by the development pairs', dev_scene: true },
      { ...usable, id: 'nowhere to stand', ground: [] },
    ];
    await writeFile(join(folder, 'plates/plates.json'), JSON.stringify({ plates }));
    const sprites = [{ pose: 'standing', licence: 'CC BY 3.0' }];
    await writeFile(join(folder, 'sprites/sprites.json'), JSON.stringify(sprites));
    const { openMaterial, sourcesOf } = (await import(resolve('scripts/lib/made-pairs.mjs'))) as {
      openMaterial(folder: string): { plates: Plate[] };
      sourcesOf(material: unknown): string[];
    };
    const material = openMaterial(folder);
    expect(material.plates.map(({ id }) => id)).toEqual(['usable', 'another']);
    expect(sourcesOf(material)).toEqual([
      '1 plates: CC0-1.0 (a library)',
      '1 plates: CC-BY-4.0, one picture of a collection',
      "1 sprites of Sweet Home 3D's furniture libraries: CC BY 3.0",
    ]);
  });
});

describe('fitted.json', () => {
  const shipped = JSON.parse(readFileSync(resolve('src/viewpoint/fitted.json'), 'utf8'));
  const withWeights = (weights: object) => {
    const { lighting, ...others } = shipped.nuisances;
    return { ...shipped, nuisances: { ...others, lighting: { ...lighting, weights } } };
  };

  it('fits its schema, and its build is the same', () => {
    expect(Value.Check(FittedSchema, shipped)).toBe(true);
    expect(JSON.parse(readFileSync(resolve('dist/viewpoint/fitted.json'), 'utf8'))).toEqual(shipped);
    expect(FITTED).toEqual(shipped);
  });

  it.each([
    ['a class is missing', { ...shipped, tampers: { ...shipped.tampers, turned: undefined } }],
    ['a weight belongs to no measurement', withWeights({ warmth: 1 })],
    ['a weight is no number', withWeights({ gain: '1' })],
  ])('is refused if %s', (_, json) => {
    expect(Value.Check(FittedSchema, json)).toBe(false);
  });
});
