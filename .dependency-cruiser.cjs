/** Who may import whom. The reasons are in docs/adr/0001-layout-and-import-rules.md. */
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
    only(
      'root-imports-no-folder',
      '^src/[^/]+\\.ts$',
      '^src/[^/]+\\.ts$',
      'Root files are the shared vocabulary.',
    ),
    only(
      'api',
      '^src/api/',
      '^src/(api|stores|outbound|cameras|alerts)/|^src/[^/]+\\.ts$',
      'HTTP only: meets workers in jobs.ts and stores/.',
    ),
    only(
      'workers',
      '^src/workers/',
      '^src/(workers|model|viewpoint|stores|outbound|cameras|alerts)/|^src/[^/]+\\.ts$',
      'Never the API.',
    ),
    only('model', '^src/model/', '^src/model/|^src/images\\.ts$', 'Numbers in, numbers out.'),
    only(
      'viewpoint',
      '^src/viewpoint/',
      '^src/viewpoint/|^src/(images|random)\\.ts$',
      'Numbers in, evidence out.',
    ),
    only(
      'evaluation',
      '^src/evaluation/',
      '^src/evaluation/|^src/[^/]+\\.ts$',
      'Figures from values: knows no model, no file, no clock.',
    ),
    only('cameras', '^src/cameras/', '^src/cameras/|^src/[^/]+\\.ts$', 'A camera is rules over values.'),
    only(
      'alerts',
      '^src/alerts/',
      '^src/alerts/|^src/[^/]+\\.ts$',
      'The life of a change is a pure reducer.',
    ),
    only(
      'stores',
      '^src/stores/',
      '^src/(stores|cameras|alerts)/|^src/[^/]+\\.ts$',
      'State behind small interfaces; what is kept of cameras and changes has its shape from the pure folders.',
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
        'model/ reads its bundle (manifest.ts, session.ts) and nothing else; the other pure folders read nothing.',
      severity: 'error',
      from: {
        path: '^src/(viewpoint|model|evaluation|cameras|alerts)/',
        pathNot: '^src/model/(manifest|session)\\.ts$',
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
