/** Who may import whom. The reasons are in docs/adr/0001-arrange-src-by-what-each-folder-owns.md. */

/** Settings, log, secrets: what a part needs to run in a process. Pure parts import `base` alone. */
const GROUND = ['base', 'process', 'secrets'];
/** Everything about a camera over time. */
const CAMERA = ['baseline', 'changes', 'fold', 'quiet', 'settings', 'state', 'visits'].map((part) => `camera/${part}`);

/** A folder of src, the folders that it may import, single files of others, and what the rule is for. */
const ROOMS = [
  ['base', [], [], 'Values that every part shares.'],
  ['process', ['base'], [], 'Settings, log, metrics and shutdown of a process.'],
  ['secrets', ['base', 'process'], [], 'Keys, signatures and sealed values.'],
  ['schemas', ['base'], [], 'Shapes that every part shares.'],
  ['language', ['base', 'schemas'], [], 'Statements as words and words as statements: no model, no camera, no store.'],
  ['heatmaps', ['base'], [], 'The codec and the pictures of heatmaps.'],
  ['model', [], ['base/(images|logistic|webassembly-instance)'], 'Numbers in, numbers out.'],
  ['viewpoint', [], ['base/(images|logistic|random|webassembly-instance)'], 'Numbers in, evidence out.'],
  ['inference', [...GROUND, 'model', 'viewpoint'], [], 'Threads that run the graphs and the registration.'],
  ['outbound', GROUND, [], 'Guarded requests to the outside.'],
  ['frames', [...GROUND, 'heatmaps', 'outbound', 'schemas'], [], 'Bytes to pixels, masks, keeping.'],
  [
    'pipeline',
    [...GROUND, 'frames', 'heatmaps', 'inference', 'language', 'model', 'schemas', 'viewpoint'],
    [],
    'From two frames to a finding: knows no camera, no queue and no store.',
  ],
  [
    'library',
    ['base', 'process', 'frames', 'heatmaps', 'language', 'pipeline', 'schemas'],
    [],
    "The pipeline in a caller's own process: no Redis, no queue, no camera.",
  ],
  ['camera/quiet', [], ['base/(images|preview-loops)'], 'Numbers in, a decision out.'],
  ['camera/settings', ['base', 'language', 'schemas'], [], 'A camera is rules over values.'],
  [
    'camera/changes',
    ['base', 'camera/settings', 'language', 'schemas'],
    [],
    'The life of a change is a pure reducer over the settings of a camera.',
  ],
  [
    'camera/visits',
    ['base', 'language', 'schemas'],
    [],
    'The visits of a camera are a pure reducer over the facts of its frames.',
  ],
  [
    'camera/state',
    ['base', 'camera/changes', 'camera/quiet', 'camera/settings', 'camera/visits', 'schemas'],
    [],
    'The state of a camera between two frames, as values.',
  ],
  [
    'camera/baseline',
    [...GROUND, 'camera/settings', 'camera/state', 'frames', 'schemas', 'viewpoint'],
    [],
    "What a camera's frame is compared with, and what is kept for the next one.",
  ],
  [
    'camera/fold',
    [...GROUND, ...CAMERA.filter((part) => part !== 'camera/fold'), 'frames', 'heatmaps', 'pipeline', 'schemas'],
    [],
    'The frames of one camera in the order of their time, live or recorded, without a queue or a store.',
  ],
  [
    'endpoints',
    [...GROUND, 'camera/settings', 'language', 'schemas'],
    [],
    'An endpoint is filters and formats over values.',
  ],
  [
    'stores',
    [...GROUND, 'camera/changes', 'camera/settings', 'camera/state', 'endpoints', 'schemas'],
    [],
    'State in Redis and in files; the pure folders give cameras and changes their shape.',
  ],
  [
    'jobs',
    [...GROUND, 'camera/settings', 'endpoints', 'schemas', 'stores'],
    [],
    'Queues, payloads and their producer: what the API and the workers agree on.',
  ],
  [
    'brief',
    [...GROUND, 'camera/settings', 'camera/state', 'camera/visits', 'frames', 'language', 'schemas', 'stores'],
    [],
    'A day of cameras in a paragraph: read by the API, sent by the workers.',
  ],
  ['search', ['base', 'language', 'schemas'], [], 'The search over changes is an index over values.'],
  [
    'footage',
    [
      ...GROUND,
      ...CAMERA.filter((part) => part !== 'camera/quiet'),
      'frames',
      'heatmaps',
      'language',
      'pipeline',
      'schemas',
      'stores',
    ],
    [],
    'A recording is a camera that runs fast: no queue, no HTTP, no command line.',
  ],
  [
    'batches',
    [...GROUND, 'camera/fold', 'camera/settings', 'footage', 'heatmaps', 'jobs', 'outbound', 'schemas', 'stores'],
    [],
    'Footage of a service: the steps of a batch over the stores, without BullMQ.',
  ],
  [
    'workers',
    [
      ...GROUND,
      ...CAMERA,
      'batches',
      'brief',
      'endpoints',
      'frames',
      'heatmaps',
      'jobs',
      'language',
      'outbound',
      'pipeline',
      'schemas',
      'stores',
    ],
    [],
    'Queues and life cycles: never the API, never a graph.',
  ],
  [
    'api',
    [
      ...GROUND,
      'camera/changes',
      'camera/settings',
      'camera/state',
      'camera/visits',
      'brief',
      'endpoints',
      'frames',
      'heatmaps',
      'jobs',
      'language',
      'outbound',
      'schemas',
      'search',
      'stores',
    ],
    ['footage/(records|replay/camera-replay)', 'footage/inputs/(template|times)'],
    'HTTP only: meets the workers in jobs/ and stores/.',
  ],
];

const roomRule = ([name, folders, files, comment]) => ({
  name,
  comment,
  severity: 'error',
  from: { path: `^src/${name}/` },
  to: {
    path: '^src/',
    pathNot: [`^src/(${[name, ...folders].join('|')})/`, ...files.map((file) => `^src/${file}\\.ts$`)].join('|'),
  },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: 'openapi/generated/api\\.js$' },
    },
    {
      name: 'clients-know-the-api-alone',
      comment: 'A client imports libraries, what clients share, and the types of openapi.yaml.',
      severity: 'error',
      from: { path: '^clients/src/' },
      to: {
        pathNot: '^clients/src/|^openapi/generated/|openapi/generated/api\\.js$|^(clients/)?node_modules/',
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'a-client-knows-no-other',
      severity: 'error',
      from: { path: '^clients/src/([^/]+)/' },
      to: { path: '^clients/src/[^/]+/', pathNot: '^clients/src/$1/' },
    },
    {
      name: 'nothing-knows-a-client',
      comment: 'src/cli/main.ts starts the built clients by their address.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^clients/' },
    },
    ...ROOMS.map(roomRule),
    {
      name: 'nothing-imports-lab',
      comment: 'The laboratory imports everything; the program works without it.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^lab/' },
    },
    {
      name: 'lab-figures',
      comment: 'Figures from values: knows no model, no file, no clock; of viewpoint the geometry alone.',
      severity: 'error',
      from: { path: '^lab/figures/' },
      to: {
        path: '^(src|lab)/',
        pathNot: '^lab/figures/|^src/(language|schemas)/|^src/viewpoint/(homography|warp)\\.ts$|^src/base/',
      },
    },
    {
      name: 'cli-starts-the-api-by-its-entry',
      comment: 'A command may use everything, but of the API only its process entry.',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^src/api/', pathNot: '^src/api/main\\.ts$' },
    },
    {
      name: 'onnxruntime-in-one-file',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/model/session\\.ts$' },
      to: { path: 'onnxruntime-node' },
    },
    {
      name: 'pure-folders-do-no-io',
      comment:
        'model/ reads its bundle (manifest.ts, session.ts), viewpoint/ and quiet/ their weights (fitted.ts); nothing else reads.',
      severity: 'error',
      from: {
        path: '^(src/(viewpoint|camera/(changes|quiet|settings|state|visits)|model|search)|lab/figures)/',
        pathNot: '^src/(model/(manifest|session)|(viewpoint|camera/quiet)/fitted)\\.ts$',
      },
      to: { dependencyTypes: ['core', 'npm'], pathNot: 'typebox|munkres' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    parser: 'swc',
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      conditionNames: ['import', 'node', 'default', 'types'],
      exportsFields: ['exports'],
    },
  },
};
