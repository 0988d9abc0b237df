/**
 * Compiler of tests and sources. Jest runs a file in a context of its own, in which each access to a global object is
 * a call into the host: loops over pixels spend most of their time in `Math`. So each file gets a `Math` of its own.
 */
const { createTransformer } = require('@swc/jest');

const OPTIONS = { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } };
/** In the first line, so that the numbers of all lines stay. */
const HEAD = 'const Math = globalThis.Math; ';

module.exports = {
  createTransformer() {
    const swc = createTransformer(OPTIONS);
    const headed = (source) => (/\bMath\b/.test(source) ? HEAD + source : source);
    return {
      canInstrument: swc.canInstrument,
      getCacheKey: (source, ...rest) => swc.getCacheKey(headed(source), ...rest),
      process: (source, ...rest) => swc.process(headed(source), ...rest),
      processAsync: (source, ...rest) => swc.processAsync(headed(source), ...rest),
    };
  },
};
