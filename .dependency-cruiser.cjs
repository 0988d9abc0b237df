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
      '^src/(jobs|schemas|stores)/|^src/[^/]+\\.ts$',
      'Queues, payloads and their producer: what the API and the workers agree on.',
    ),
    only(
      'api',
      '^src/api/',
      '^src/(api|jobs|schemas|stores|frames|heatmaps|outbound|cameras|changes)/|^src/[^/]+\\.ts$',
      'HTTP only: meets the workers in jobs/ and stores/.',
    ),
    only(
      'workers',
      '^src/workers/',
      '^src/(workers|baseline|pipeline|jobs|schemas|stores|frames|heatmaps|outbound|cameras|changes)/|^src/[^/]+\\.ts$',
      'Queues and life cycles: never the API, never a graph.',
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
    only('heatmaps', '^src/heatmaps/', '^src/heatmaps/|^src/[^/]+\\.ts$', 'The codec and the pictures of heatmaps.'),
    only('model', '^src/model/', '^src/model/|^src/images\\.ts$', 'Numbers in, numbers out.'),
    only('viewpoint', '^src/viewpoint/', '^src/viewpoint/|^src/(images|random)\\.ts$', 'Numbers in, evidence out.'),
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
      '^src/(stores|schemas|cameras|changes)/|^src/[^/]+\\.ts$',
      'State in Redis and in files; the pure folders give cameras and changes their shape.',
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
        'model/ reads its bundle (manifest.ts, session.ts), viewpoint/ its weights (fitted.ts); nothing else reads.',
      severity: 'error',
      from: {
        path: '^src/(viewpoint|model|evaluation|cameras|changes)/',
        pathNot: '^src/(model/(manifest|session)|viewpoint/fitted)\\.ts$',
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
