interface Address {
  readonly family: string;
  readonly internal: boolean;
  readonly address: string;
  readonly netmask: string;
  readonly cidr: string;
}
/** @returns the private IPv4 networks of a machine, e.g. ['192.168.1.0/24'] */
export function localNetworks(interfaces: Readonly<Record<string, readonly Address[]>>): string[];
/** @returns the settings that the answer stands for */
export function networkSettings(
  dataDir: string,
  env: Readonly<Record<string, string>>,
  terminal: { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream },
  networks: readonly string[],
  waitMs?: number,
): Promise<Record<string, string>>;
