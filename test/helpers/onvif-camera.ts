/**
 * An ONVIF camera on 127.0.0.1: it answers probes to the multicast group on the loopback interface, and its service
 * checks WS-UsernameToken, or a login of HTTP, apart from the code of the client.
 */
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { XMLParser } from 'fast-xml-parser';
import { demandLogin, type Scheme } from './login-camera.js';
import { startReceiver } from './receiver.js';

const GROUP = '239.255.255.250';
const PORT = 3702;

/**
 * @param answers of one probe, from its message id
 * @param port 0: a free one, which no other test uses
 * @returns the probes that came, and how to stop
 */
export async function startResponder(answers: (id: string) => readonly (string | Buffer)[], port = PORT) {
  const probes: string[] = [];
  const socket = createSocket({ type: 'udp4', reuseAddr: true });
  socket.on('message', (bytes, from) => {
    const probe = bytes.toString();
    probes.push(probe);
    const id = /urn:uuid:[0-9a-f-]{36}/.exec(probe)?.[0] ?? '';
    for (const answer of answers(id)) socket.send(answer, from.port, from.address);
  });
  await new Promise<void>((done) => socket.bind(port, done));
  socket.addMembership(GROUP, '127.0.0.1');
  return { probes, port: socket.address().port, close: () => new Promise<void>((done) => socket.close(done)) };
}

export interface Match {
  readonly key: string;
  readonly xaddrs: string;
  readonly types?: string;
  readonly scopes?: string;
}
const SCOPES =
  'onvif://www.onvif.org/type/video_encoder onvif://www.onvif.org/name/Gate%20north onvif://www.onvif.org/hardware/IPC-42 ' +
  'onvif://www.onvif.org/location/country/x onvif://www.onvif.org/location/Yard%E2%80%AE';

export const probeMatch = (id: string, { key, xaddrs, types = 'dn:NetworkVideoTransmitter', scopes = SCOPES }: Match) =>
  `<?xml version="1.0"?><SOAP-ENV:Envelope xmlns:SOAP-ENV="http://www.w3.org/2003/05/soap-envelope" xmlns:wsa="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:wsdd="http://schemas.xmlsoap.org/ws/2005/04/discovery">
<SOAP-ENV:Header><wsa:RelatesTo>${id}</wsa:RelatesTo></SOAP-ENV:Header><SOAP-ENV:Body><wsdd:ProbeMatches><wsdd:ProbeMatch>
<wsa:EndpointReference><wsa:Address>${key}</wsa:Address></wsa:EndpointReference><wsdd:Types>${types}</wsdd:Types>
<wsdd:Scopes>${scopes}</wsdd:Scopes><wsdd:XAddrs>${xaddrs}</wsdd:XAddrs></wsdd:ProbeMatch></wsdd:ProbeMatches></SOAP-ENV:Body></SOAP-ENV:Envelope>`;

const soap = (body: string) =>
  `<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body>${body}</s:Body></s:Envelope>`;
const fault = (text: string) =>
  soap(
    `<s:Fault><s:Code><s:Value>s:Sender</s:Value></s:Code><s:Reason><s:Text xml:lang="en">${text}</s:Text></s:Reason></s:Fault>`,
  );
const resolution = (width: number) =>
  `<tt:VideoEncoderConfiguration><tt:Resolution><tt:Width>${width}</tt:Width><tt:Height>1</tt:Height></tt:Resolution></tt:VideoEncoderConfiguration>`;

/**
 * @param options.clock epoch ms by the camera's clock, within five minutes of which tokens must be made
 * @param options.http scheme of HTTP that the login is asked for by, in place of the token
 * @param options.answers replaces the content of the answer to an action
 */
export async function startOnvifCamera(options: {
  login: { username: string; password: string };
  clock: number;
  http?: Scheme | undefined;
  answers?: Readonly<Record<string, string>>;
}) {
  const { login, clock, http, answers = {} } = options;
  const challengesFor = demandLogin({ ...login, schemes: [http ?? 'digest-md5'] });
  const parser = new XMLParser({ removeNSPrefix: true, parseTagValue: false });
  const camera = await startReceiver((request, response) => {
    const { Header, Body } = parser.parse(request.body).Envelope;
    const [action = ''] = Object.keys(Body);
    const isOpen = action === 'GetSystemDateAndTime';
    const challenges = http !== undefined && !isOpen ? challengesFor(request) : null;
    if (challenges !== null) return response.writeHead(401, { 'www-authenticate': challenges }).end();
    const { Username, Password, Nonce, Created } = Header?.Security?.UsernameToken ?? {};
    const right = createHash('sha1')
      .update(Buffer.concat([Buffer.from(Nonce ?? '', 'base64'), Buffer.from(`${Created}${login.password}`)]))
      .digest('base64');
    const isLate = Math.abs(Date.parse(Created) - clock) > 300_000;
    if (!isOpen && http === undefined && (Username !== login.username || Password !== right || isLate)) {
      return response.writeHead(400).end(fault('Sender not Authorized'));
    }
    const now = new Date(clock);
    const contents: Record<string, string> = {
      GetSystemDateAndTime:
        '<SystemDateAndTime><UTCDateTime>' +
        `<Time><Hour>${now.getUTCHours()}</Hour><Minute>${now.getUTCMinutes()}</Minute><Second>${now.getUTCSeconds()}</Second></Time>` +
        `<Date><Year>${now.getUTCFullYear()}</Year><Month>${now.getUTCMonth() + 1}</Month><Day>${now.getUTCDate()}</Day></Date>` +
        '</UTCDateTime></SystemDateAndTime>',
      GetCapabilities: `<Capabilities><Media><XAddr>http://169.254.169.254/onvif/Media</XAddr></Media></Capabilities>`,
      GetProfiles: [3840, 640, 1920]
        .map((width) => `<Profiles token="p&amp;${width}">${resolution(width)}</Profiles>`)
        .join(''),
      GetSnapshotUri: `<MediaUri><Uri>http://u:p@169.254.169.254/snap?a=1&amp;p=${/:ProfileToken>(.*?)</.exec(request.body)?.[1]}</Uri></MediaUri>`,
      GetStreamUri: '<MediaUri><Uri>rtsp://10.0.0.9:554/live</Uri></MediaUri>',
      ...answers,
    };
    const content = contents[action] ?? '';
    if (content === 'fault') return response.writeHead(500).end(fault('Optional Action Not Implemented'));
    return response.end(
      content.startsWith('<?raw ') ? content.slice(6) : soap(`<${action}Response>${content}</${action}Response>`),
    );
  });
  const actions = () => camera.received.map(({ body }) => /:(Get\w+)/.exec(body)?.[1]);
  return { ...camera, address: `${camera.url}/onvif/device_service`, actions };
}
