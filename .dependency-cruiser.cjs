/** Who may import whom. The reasons are in docs/adr/0012-arrange-src-by-what-each-folder-owns.md. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: '^src/', pathNot: allowed },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    only('root-imports-no-folder', '^src/[^/]+\\.ts$', '^src/[^/]+\\.ts$', 'Root files are the shared vocabulary.'),
    only('schemas', '^src/schemas/', '^src/schemas/|^src/[^/]+\\.ts$', 'Shapes that every part shares.'),
    only(
      'jobs',
      '^src/jobs/',
      '^src/(jobs|endpoints|schemas|stores)/|^src/[^/]+\\.ts$',
      'Queues, payloads and their producer: what the API and the workers agree on.',
    ),
    only(
      'api',
      '^src/api/',
      '^src/(api|jobs|schemas|stores|frames|heatmaps|outbound|cameras|changes|endpoints)/|^src/footage/(camera-replay|records)\\.ts$|^src/footage/inputs/(template|times|wall-clock)\\.ts$|^src/[^/]+\\.ts$',
      'HTTP only: meets the workers in jobs/ and stores/.',
    ),
    only(
      'workers',
      '^src/workers/',
      '^src/(workers|batches|baseline|describer|sequence|pipeline|quiet|jobs|schemas|stores|frames|heatmaps|outbound|cameras|changes|endpoints)/|^src/[^/]+\\.ts$',
      'Queues and life cycles: never the API, never a graph.',
    ),
    only(
      'sequence',
      '^src/sequence/',
      '^src/(sequence|baseline|cameras|changes|frames|heatmaps|pipeline|quiet|schemas|stores)/|^src/[^/]+\\.ts$',
      'The frames of one camera in the order of their time, live or recorded, without a queue.',
    ),
    only(
      'pipeline',
      '^src/pipeline/',
      '^src/(pipeline|inference|frames|heatmaps|model|viewpoint|schemas)/|^src/[^/]+\\.ts$',
      'From two frames to a finding: knows no queue and no store.',
    ),
    only(
      'inference',
      '^src/inference/',
      '^src/(inference|model|viewpoint)/|^src/[^/]+\\.ts$',
      'Threads that run the graphs and the registration.',
    ),
    only(
      'baseline',
      '^src/baseline/',
      '^src/(baseline|frames|stores|cameras|schemas|jobs)/|^src/[^/]+\\.ts$',
      "What a camera's frame is compared with, and what is kept for the next one.",
    ),
    only(
      'frames',
      '^src/frames/',
      '^src/(frames|stores|outbound|cameras|schemas)/|^src/[^/]+\\.ts$',
      'Bytes to pixels, masks, fetching and keeping.',
    ),
    only(
      'footage',
      '^src/footage/',
      '^src/(footage|sequence|baseline|pipeline|frames|heatmaps|stores|cameras|changes|schemas)/|^src/[^/]+\\.ts$',
      'A recording is a camera that runs fast: no queue, no HTTP, no command line.',
    ),
    only(
      'batches',
      '^src/batches/',
      '^src/(batches|footage|sequence|jobs|schemas|stores|outbound|cameras)/|^src/[^/]+\\.ts$',
      'Footage of a service: the steps of a batch over the stores, without BullMQ.',
    ),
    only(
      'describer',
      '^src/describer/',
      '^src/(describer|changes|evaluation|frames|outbound|schemas)/|^src/[^/]+\\.ts$',
      'The words of a foreign language model, judged by our evidence: no queue, no store, no model of ours.',
    ),
    only('heatmaps', '^src/heatmaps/', '^src/heatmaps/|^src/[^/]+\\.ts$', 'The codec and the pictures of heatmaps.'),
    only('model', '^src/model/', '^src/model/|^src/images\\.ts$', 'Numbers in, numbers out.'),
    only('viewpoint', '^src/viewpoint/', '^src/viewpoint/|^src/(images|random)\\.ts$', 'Numbers in, evidence out.'),
    only('quiet', '^src/quiet/', '^src/quiet/|^src/images\\.ts$', 'Numbers in, a decision out.'),
    only(
      'evaluation',
      '^src/evaluation/',
      '^src/(evaluation|schemas)/|^src/viewpoint/(homography|warp)\\.ts$|^src/[^/]+\\.ts$',
      'Figures from values: knows no model, no file, no clock; of viewpoint the geometry alone.',
    ),
    only('cameras', '^src/cameras/', '^src/(cameras|schemas)/|^src/[^/]+\\.ts$', 'A camera is rules over values.'),
    only(
      'changes',
      '^src/changes/',
      '^src/(changes|cameras|schemas)/|^src/model/(clauses|wording)\\.ts$|^src/[^/]+\\.ts$',
      'The life of a change is a pure reducer over the settings of a camera; of the model it knows the sentences.',
    ),
    only(
      'stores',
      '^src/stores/',
      '^src/(stores|schemas|cameras|changes|endpoints|quiet)/|^src/[^/]+\\.ts$',
      'State in Redis and in files; the pure folders give cameras and changes their shape.',
    ),
    only(
      'mqtt',
      '^src/mqtt/',
      '^src/(mqtt|stores|frames|heatmaps|cameras|changes|schemas)/|^src/[^/]+\\.ts$',
      'The MQTT publisher reads the stores and the event stream: no queue, no HTTP, no model.',
    ),
    only(
      'endpoints',
      '^src/endpoints/',
      '^src/(endpoints|cameras|schemas)/|^src/[^/]+\\.ts$',
      'An endpoint is filters and formats over values.',
    ),
    only('outbound', '^src/outbound/', '^src/outbound/|^src/[^/]+\\.ts$', 'Guarded requests to the outside.'),
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
        path: '^src/(viewpoint|quiet|model|evaluation|cameras|changes)/',
        pathNot: '^src/(model/(manifest|session)|(viewpoint|quiet)/fitted)\\.ts$',
      },
      to: { dependencyTypes: ['core', 'npm'], pathNot: 'typebox' },
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
