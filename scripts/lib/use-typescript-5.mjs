/** For `node --import`: `typescript` means version 5, which openapi-typescript, knip and depcruise need. */
import { register } from 'node:module';

const hooks = `export const resolve = (specifier, context, next) =>
  next(specifier === 'typescript' ? 'typescript-5' : specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
