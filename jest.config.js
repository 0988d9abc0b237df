/** Native ES modules: run through `npm run jest`, which passes --experimental-vm-modules. */
export default {
  runtime: '<rootDir>/test/helpers/runtime.cjs',
  testEnvironment: '<rootDir>/test/helpers/node-environment.cjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': '<rootDir>/test/helpers/transform.cjs',
  },
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // Three files of the build in place of 340 modules, which each test file would load again.
    '^typebox$': '<rootDir>/dist/typebox/index.js',
    '^typebox/(value|compile)$': '<rootDir>/dist/typebox/$1.js',
    // The build of it that Node 20.9 can read: src/frames/sharp.ts.
    '^sharp$': '<rootDir>/node_modules/sharp/dist/index.cjs',
  },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // It only catches a test that hangs, also on a busy machine.
  testTimeout: 60_000,
};
