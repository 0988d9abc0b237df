import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

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
