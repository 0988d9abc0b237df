/** Who may import whom in the console; console/README.md has the same in words. */
const PAGES = '(try|review|cameras|footage|endpoints|system)';

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
      name: 'shared-folders-know-no-page',
      severity: 'error',
      from: { path: '^console/src/(api|ui|pair)/|^console/src/session\\.ts$' },
      to: { path: `^console/src/${PAGES}/|^console/src/(app|main|sign-in)\\.` },
    },
    {
      name: 'no-page-shows-parts-of-another',
      comment: 'A page may read what another one stores, never its components.',
      severity: 'error',
      from: { path: `^console/src/${PAGES}/` },
      to: { path: `^console/src/${PAGES}/.+\\.tsx$`, pathNot: '^console/src/$1/' },
    },
    {
      name: 'documents-stand-alone',
      comment: 'What a document shows lies in it: no page, no texts, no API.',
      severity: 'error',
      from: { path: '^console/src/documents/' },
      to: { path: '^console/src/', pathNot: '^console/src/(brand|documents|styles)/' },
    },
    {
      name: 'little-of-the-service',
      comment: 'Types of records, the clock, and pure code whose result must equal that of the service.',
      severity: 'error',
      from: { path: '^console/' },
      to: {
        path: '^src/',
        pathNot:
          '^src/(base/(box-around|clock|privacy-mask)|heatmaps/contour|camera/settings/zone-phrase|footage/records|language/locales|schemas/(documents|kinds|message|place-search)|camera/visits/places)\\.ts$',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|^src/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'console/tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js'],
      conditionNames: ['import', 'default', 'types'],
      exportsFields: ['exports'],
    },
  },
};
