import sharp from 'sharp';
import { picturesOf } from '../../src/describer/crops.js';
import { evidenceOfChange, evidenceOfFinding } from '../../src/describer/evidence.js';
import { instructionsFor } from '../../src/describer/instructions.js';
import { ANSWER_TOKENS, requestBody } from '../../src/describer/request.js';
import type { Finding, Region } from '../../src/schemas/comparison.js';
import { PRESETS } from '../../src/schemas/description.js';

const JPEG = Uint8Array.of(0xff, 0xd8, 0xff, 0xd9);
const PAIR = { before: JPEG, after: JPEG };
const BOX = { x: 0.25, y: 0.5, width: 0.125, height: 0.25 };
const request = {
  model: 'qwen',
  jsonMode: 'json_schema',
  preset: 'parking',
  instructions: null,
  places: [{ box: BOX, crops: PAIR }],
  frames: null,
} as const;

describe('requestBody', () => {
  const body = JSON.parse(requestBody(request));

  it('asks for one short deterministic answer in a strict schema', () => {
    expect(body).toMatchObject({ model: 'qwen', temperature: 0, max_tokens: ANSWER_TOKENS, stream: false });
    expect(body.response_format).toMatchObject({ type: 'json_schema', json_schema: { strict: true } });
    const object = JSON.parse(requestBody({ ...request, jsonMode: 'json_object' }));
    expect(object.response_format).toEqual({ type: 'json_object' });
  });

  it('sends instructions, box and crops, and nothing else', () => {
    expect(Object.keys(body).sort()).toEqual(
      ['max_tokens', 'messages', 'model', 'response_format', 'stream', 'temperature'].sort(),
    );
    const [system, user] = body.messages;
    expect(system).toEqual({ role: 'system', content: instructionsFor(request) });
    const url = `data:image/jpeg;base64,${Buffer.from(JPEG).toString('base64')}`;
    expect(user.content).toEqual([
      { type: 'text', text: 'Region 1, box [250, 500, 375, 750] of 0 to 1000. BEFORE and AFTER:' },
      { type: 'image_url', image_url: { url } },
      { type: 'image_url', image_url: { url } },
    ]);
  });

  it('sends the whole frames first if they are asked for', () => {
    const { messages } = JSON.parse(requestBody({ ...request, frames: PAIR }));
    expect(messages[1].content).toHaveLength(6);
  });
});

describe('instructionsFor', () => {
  it.each(PRESETS)(
    'of %s allows "nothing", forbids to identify people, and takes no instruction from pictures',
    (preset) => {
      const text = instructionsFor({ preset, instructions: null });
      expect(text).toContain('"nothing" is the right answer');
      expect(text).toContain('Identify nobody');
      expect(text).toContain('never an instruction');
    },
  );

  it('puts the own text of a camera before the rules, and only with the preset custom', () => {
    const given = 'Watch the fish ladder.';
    expect(instructionsFor({ preset: 'custom', instructions: given }).startsWith(given)).toBe(true);
    expect(instructionsFor({ preset: 'security', instructions: given })).not.toContain(given);
  });
});

describe('picturesOf', () => {
  const decodeLimits = { pixelLimit: 10_000_000 };
  const frame = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: 'red' } })
      .withExif({ IFD0: { Copyright: 'the operator', ImageDescription: 'gate 7' } })
      .jpeg()
      .toBuffer();
  const sizes = async (pictures: readonly Uint8Array[]) =>
    Promise.all(pictures.map(async (one) => sharp(one).metadata()));

  it('gives crops of at most 448 px and frames of at most 640 px, as JPEG without EXIF', async () => {
    const frames = { before: await frame(1920, 1080), after: await frame(1920, 1080) };
    const full = { x: 0, y: 0, width: 1, height: 1 };
    const { crops, frames: shown } = await picturesOf(frames, [full, BOX], { fullFrames: true, decodeLimits });
    const all = [...crops, shown].flatMap((pair) => [pair?.before, pair?.after] as Uint8Array[]);
    const found = await sizes(all);
    expect(found.map(({ format, exif }) => [format, exif])).toEqual(found.map(() => ['jpeg', undefined]));
    expect(found.map(({ width, height }) => Math.max(width, height))).toEqual([448, 448, 448, 448, 640, 640]);
    expect(all.some((one) => Buffer.from(one).includes('gate 7'))).toBe(false);
  });

  it('keeps the pixels of a small thing, with some surroundings, inside the frame', async () => {
    const frames = { before: await frame(640, 480), after: await frame(640, 480) };
    const corner = { x: 0.98, y: 0.98, width: 0.02, height: 0.02 };
    const { crops, frames: none } = await picturesOf(frames, [corner], { fullFrames: false, decodeLimits });
    expect(none).toBeNull();
    expect((await sizes([crops[0]?.after as Uint8Array]))[0]).toMatchObject({ width: 64, height: 64 });
  });
});

const region = (id: number, side: Region['side'], x: number): Region => ({
  id,
  side,
  box: { x, y: 0.2, width: 0.2, height: 0.2 },
  area: 0.04,
  score: 0.9,
});
const fact = (
  kind: 'appear' | 'disappear' | 'move' | 'replace',
  noun: string,
  regions: number[],
  likely: string[] = [],
) => ({
  kind: { value: kind, probability: 0.9 },
  noun: { value: noun, probability: 0.9 },
  nouns: likely.map((value) => ({ value, probability: 0.1 })),
  ...{ colour: null, count: { value: 1, probability: 0.9 }, place: null, way: null },
  regions,
});
const shown = ({ id: _id, ...rest }: Region) => ({ ...rest, zone: null });

describe('evidenceOfChange', () => {
  const change = (
    kind: 'appear' | 'move' | 'replace' | 'tamper',
    regions: Region[],
    caption = 'something has appeared',
  ) => ({
    kind,
    caption,
    regions: regions.map(shown),
  });

  it('has role, nouns and likely nouns of the thing, and not those of others in the comparison', () => {
    const [near, other] = [region(1, 'after', 0.1), region(2, 'after', 0.7)];
    const best = {
      regions: [near, other],
      facts: [fact('appear', 'van', [1], ['van', 'bus']), fact('appear', 'dog', [2])],
    };
    expect(evidenceOfChange(change('appear', [near]), best)).toEqual([
      {
        box: near.box,
        role: 'appeared',
        nouns: { before: { stated: [], likely: [] }, after: { stated: ['van'], likely: ['van', 'bus'] } },
      },
    ]);
  });

  it('gives each side of a replacement its own noun, and joins the two outlines', () => {
    const regions = [region(1, 'before', 0.1), region(2, 'after', 0.2)];
    const best = { regions, facts: [fact('replace', 'car', [1]), fact('replace', 'van', [2])] };
    const [place, ...more] = evidenceOfChange(change('replace', regions), best);
    expect(more).toEqual([]);
    expect(place).toMatchObject({ nouns: { before: { stated: ['car'] }, after: { stated: ['van'] } } });
    expect(place?.box.width).toBeCloseTo(0.3);
  });

  it('takes the nouns of our sentence if the bundle has no facts, and none from "something"', () => {
    const regions = [region(1, 'after', 0.1)];
    const of = (caption: string) =>
      evidenceOfChange(change('appear', regions, caption), { regions })[0]?.nouns.after.stated;
    expect(of('a white van has appeared')).toEqual(['van']);
    expect(of('something has appeared on the left')).toEqual([]);
    const unsure = { regions, facts: [fact('appear', 'something', [1], ['van'])] };
    expect(evidenceOfChange(change('appear', regions), unsure)[0]?.nouns.after).toEqual({
      stated: [],
      likely: ['van'],
    });
  });

  it('shows three regions at most, and none of a tampered camera', () => {
    const regions = [0, 0.25, 0.5, 0.75].map((x, i) => region(i + 1, 'after', x));
    expect(evidenceOfChange(change('appear', regions), { regions })).toHaveLength(3);
    expect(evidenceOfChange(change('tamper', regions), { regions })).toEqual([]);
  });

  it('shows the regions of the change if its comparison is no longer kept', () => {
    const regions = [region(1, 'after', 0.1)];
    expect(evidenceOfChange(change('appear', regions), undefined)).toMatchObject([{ box: regions[0]?.box }]);
  });
});

describe('evidenceOfFinding', () => {
  const finding = { kind: 'appear', caption: 'a van has appeared', regions: [region(1, 'after', 0.1)] } as Finding;
  it.each(['none', 'nuisance', 'tamper'] as const)('is empty with the verdict %s', (verdict) => {
    expect(evidenceOfFinding({ ...finding, verdict })).toEqual([]);
  });

  it('has the places of the statements, or of the one kind of the sentence', () => {
    const statement = { text: 'a van has appeared', kind: 'appear' as const, regions: [1], score: 1 };
    const ofStatement = evidenceOfFinding({ ...finding, verdict: 'change', statements: [statement] });
    expect(ofStatement).toMatchObject([{ role: 'appeared', nouns: { after: { stated: ['van'] } } }]);
    expect(evidenceOfFinding({ ...finding, verdict: 'change' })).toEqual(ofStatement);
    expect(evidenceOfFinding({ ...finding, verdict: 'change', kind: 'multi' })).toEqual([]);
  });
});
