/** Types of alertmanager.mjs, for tests. */
export function findAlertmanager(): { server: string; amtool: string } | undefined;
