/** For `node --import`: `typescript` means version 5, the latest that openapi-typescript can use. */
import { register } from 'node:module';

const hooks = `export const resolve = (specifier, context, next) =>
  next(specifier === 'typescript' ? 'typescript-5' : specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
