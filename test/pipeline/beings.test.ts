import type { Side } from '../../src/base/images.js';
import type { CropNames } from '../../src/model/graph-io.js';
import type { MapRegion } from '../../src/model/regions.js';
import { beingsOf } from '../../src/pipeline/beings.js';
import { cropNames, NAMES } from '../model/names.js';

const NOTHING = cropNames({ nothing: 0.98 });
const MAN = cropNames({ man: 0.9, nothing: 0.01 });
const WOMAN = cropNames({ woman: 0.9, nothing: 0.01 });
const CAR = cropNames({ car: 0.9, nothing: 0.01 });
/** Rather nothing than a thing, and rather a man than another thing. */
const LYING = cropNames({ nothing: 0.8, man: 0.14, car: 0.03 });
const SHADOW = cropNames({ nothing: 0.8, man: 0.03, car: 0.14 });

const region = (side: Side): MapRegion => ({
  side,
  box: { x: 0, y: 0, width: 0.1, height: 0.1 },
  area: 0.01,
  score: 1,
});

describe('beings', () => {
  const location = (...sides: Side[]) => ({ regions: sides.map(region) });
  const inRed = cropNames({ man: 0.9, nothing: 0.01 }, { red: 0.9 });
  const inBlack = cropNames({ woman: 0.9, nothing: 0.01 }, { black: 0.9 });
  const beings = (shown: readonly [before: CropNames, after: CropNames][], crops: readonly (readonly Side[])[]) =>
    beingsOf(
      crops.map((sides) => location(...sides)),
      shown.map(([before, after]) => ({ before, after })),
      NAMES,
    );
  const [gone, came]: [Side[], Side[]] = [['before'], ['after']];

  it('are the only person of each frame, at one location or at two', () => {
    expect(beings([[MAN, WOMAN]], [['before', 'after']])).toEqual([{ word: 'person', before: 0, after: 0 }]);
    const apart: [CropNames, CropNames][] = [
      [NOTHING, MAN],
      [WOMAN, NOTHING],
      [NOTHING, CAR],
    ];
    expect(beings(apart, [came, gone, came])).toEqual([{ word: 'person', before: 1, after: 0 }]);
  });

  it('are one who lies in a frame, where the namer rather sees nothing', () => {
    expect(beings([[MAN, LYING]], [['before', 'after']])).toEqual([{ word: 'person', before: 0, after: 0 }]);
    const apart: [CropNames, CropNames][] = [
      [LYING, NOTHING],
      [NOTHING, WOMAN],
      [NOTHING, SHADOW],
    ];
    expect(beings(apart, [gone, came, came])).toEqual([{ word: 'person', before: 0, after: 1 }]);
  });

  it.each<[string, [CropNames, CropNames][], Side[][]]>([
    ['a man beside a shadow', [[MAN, SHADOW]], [['before', 'after']]],
    ['what the namer recognises in neither frame', [[LYING, LYING]], [['before', 'after']]],
    [
      'a man where two may lie',
      [
        [MAN, LYING],
        [NOTHING, LYING],
      ],
      [['before', 'after'], came],
    ],
    ['people of other colours', [[inRed, inBlack]], [['before', 'after']]],
    ['cars', [[CAR, CAR]], [['before', 'after']]],
    ['a man beside a car', [[MAN, CAR]], [['before', 'after']]],
    ['a person whom one frame shows where nothing changed', [[MAN, MAN]], [came]],
    [
      'one of two who came',
      [
        [MAN, MAN],
        [NOTHING, WOMAN],
      ],
      [['before', 'after'], came],
    ],
  ])('are not %s', (_, shown, crops) => {
    expect(beings(shown, crops)).toEqual([]);
  });
});
