/**
 * Runtime of jest that loads some large packages once per process of tests, outside of the contexts of the test files.
 * Jest loads all modules anew for every file; these keep no state that one test could leave to another.
 */
const { join } = require('node:path');
const { default: Runtime } = require('jest-runtime');

/**
 * No package of which values are asked for their class: fastify asks for RegExp, and the decoder whether what sharp
 * throws is an Error. Each context has classes of its own.
 */
const PACKAGES = ['@fastify/ajv-compiler', 'ajv', 'bullmq', 'find-my-way', 'ioredis', 'semver', 'yaml'];
const FOLDERS = PACKAGES.map((name) => join(__dirname, '../../node_modules', name, '/'));
const isShared = (path) => FOLDERS.some((folder) => path.startsWith(folder));

module.exports = class SharingRuntime extends Runtime {
  /** @param name as `require` takes it; an absolute path if an ECMAScript module imports the package */
  requireModuleOrMock(from, name) {
    return PACKAGES.includes(name) || isShared(name) ? require(name) : super.requireModuleOrMock(from, name);
  }
};
