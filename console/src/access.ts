/** Rights of the key of the session: the page shows no more than they open. */
import type { Session } from './api/types.js';
import { session } from './session.js';

type Scope = Session['scopes'][number];

/** Views that need more than looking. */
const NEEDED: Readonly<Record<string, Scope>> = { '/try': 'compare', '/footage': 'batch', '/endpoints': 'judge' };

export const may = (scope: Scope): boolean => session.value?.scopes.includes(scope) === true;

/** @param path of a view, e.g. '/wall' */
export const mayOpen = (path: string): boolean => may(NEEDED[path] ?? 'read');
