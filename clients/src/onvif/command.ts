/** `scenedelta onvif`: lists the ONVIF cameras of this machine's networks, and sets them up in a service. */
import { networkInterfaces } from 'node:os';
import { systemClock } from '../clock.js';
import { collect, createCommand, type ServiceOptions, withService } from '../command.js';
import { Failure, refused, usage } from '../failure.js';
import { printError, printLine } from '../print.js';
import { openService } from '../service.js';
import { cameraIdOf, createSetUp, type SetUp, type SetUpOptions, withSetUp } from '../set-up-camera.js';
import { askAddresses, type CameraAddresses } from './addresses.js';
import { type FoundCamera, searchCameras } from './search.js';
import type { Login } from './soap.js';

interface Options extends ServiceOptions, SetUpOptions {
  readonly interface: readonly string[];
  readonly host: readonly string[];
  readonly username?: string;
  readonly json?: true;
  readonly add?: true;
  readonly stream?: true;
}

export const command = withSetUp(
  withService(
    createCommand('onvif')
      .description(
        'Searches the networks of this machine for ONVIF cameras (WS-Discovery), and asks each of them for the ' +
          'addresses of its pictures. ONVIF_PASSWORD has the password of --username; only digests of it are sent to ' +
          'the cameras.',
      )
      .option('--interface <name>', 'search at this network interface alone; may be given several times', collect, [])
      .option('--host <address>', 'only the camera at this address; may be given several times', collect, [])
      .option('--username <name>', 'user name of the cameras')
      .option('--json', 'print the cameras as JSON')
      .option('--add', 'set up the cameras in the service, with the login')
      .option('--stream', 'set them up by their stream (RTSP) instead of their picture (HTTP)'),
    'admin',
  ),
).action(run);

/** A line of the list. */
interface Row extends CameraAddresses {
  readonly id: string;
  readonly name: string;
  readonly model: string;
  readonly place: string;
  /** address of its ONVIF service */
  readonly service: string;
  /** why it did not give its addresses, or was not set up; null: nothing failed */
  readonly problem: string | null;
  /** what --add did; null: nothing */
  readonly outcome: Exclude<SetUp, object> | null;
}

async function run(options: Options): Promise<void> {
  const login = loginOf(options.username);
  const setUp = options.add && createSetUp(options, await openService(options));
  const interfaces = addressesOf(options.interface);
  const all = await searchCameras(interfaces);
  const asked = all.filter(({ service }) => options.host.length === 0 || options.host.includes(service.hostname));
  if (asked.length === 0) printError(`no camera answered at ${interfaces.join(', ')}`);
  const rows: Row[] = await Promise.all(asked.map((camera) => askCamera(camera, idOf(camera, all), login)));
  if (setUp) {
    for (const [i, row] of rows.entries()) rows[i] = await addCamera(row, { setUp, login, options });
  }
  if (options.json) printLine(JSON.stringify(rows, null, 2));
  else for (const line of table(rows)) printLine(line);
  const failed = rows.filter(({ problem }) => problem !== null).length;
  if (setUp && failed > 0) throw refused(`${failed} of ${rows.length} cameras were not set up`);
}

function loginOf(username: string | undefined): Login | undefined {
  if (username === undefined) return undefined;
  const password = process.env.ONVIF_PASSWORD;
  if (password === undefined) throw usage('--username: expected the password in ONVIF_PASSWORD');
  return { username, password };
}

/** @param names of interfaces; empty: all but the loopback ones. @throws Failure 'usage' if one has no IPv4 address */
function addressesOf(names: readonly string[]): string[] {
  const existing = networkInterfaces();
  for (const name of names) {
    const expected = Object.keys(existing).join(', ');
    if (existing[name] === undefined) throw usage(`--interface ${name}: expected one of ${expected}`);
  }
  const addresses = Object.entries(existing)
    .filter(([name]) => names.length === 0 || names.includes(name))
    .flatMap(([, all = []]) => all)
    .filter(({ family, internal }) => family === 'IPv4' && (names.length > 0 || !internal))
    .map(({ address }) => address);
  if (addresses.length === 0) throw usage('this machine has no network with IPv4 there');
  return addresses;
}

/** A name that several cameras have is the one of the factory. */
function idOf({ name, service }: FoundCamera, all: readonly FoundCamera[]): string {
  const isShared = all.filter((other) => other.name === name).length > 1;
  return (isShared ? null : cameraIdOf(name)) ?? service.hostname;
}

async function askCamera(camera: FoundCamera, id: string, login: Login | undefined): Promise<Row> {
  const row = { id, ...camera, service: camera.service.href, picture: null, stream: null, outcome: null };
  try {
    return { ...row, ...(await askAddresses(camera.service, login, systemClock)), problem: null };
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    return { ...row, problem: thrown.message };
  }
}

async function addCamera(
  row: Row,
  { setUp, login, options }: { setUp: ReturnType<typeof createSetUp>; login: Login | undefined; options: Options },
): Promise<Row> {
  if (row.problem !== null) return row;
  const url = options.stream ? row.stream : (row.picture ?? row.stream);
  if (url === null) return { ...row, problem: 'it names no address of its pictures' };
  const outcome = await setUp({ id: row.id, name: row.name || row.id, url, login: login ?? {} });
  return typeof outcome === 'object' ? { ...row, problem: outcome.reason } : { ...row, outcome };
}

const HEAD = ['CAMERA', 'MODEL', 'PLACE', 'HOST', 'PICTURES'];

/** @returns a line of heads and one per camera, in columns */
function table(rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const cells = rows.map(({ id, model, place, service, picture, stream, problem, outcome }) => [
    id,
    model,
    place,
    new URL(service).host,
    problem ?? [picture, stream, outcome].filter((part) => part !== null).join('  '),
  ]);
  const widths = HEAD.map((_head, i) => Math.max(...[HEAD, ...cells].map((line) => line[i]?.length ?? 0)));
  return [HEAD, ...cells].map((line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
