/** The path of the service on its host. Only the browser knows it, because proxies remove it from requests. */

/** E.g. '/cams/scenedelta'; '' at the root of a host. The scripts of the page are in the folder assets below it. */
export const ROOT = new URL(import.meta.url).pathname.split('/').slice(0, -2).join('/');

/** @param path as the API describes it, e.g. '/v1/changes'. @returns its address on this host */
export const addressOf = (path: string): string => ROOT + path;
