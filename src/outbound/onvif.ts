/** ONVIF of a worker: only with ONVIF_DISCOVERY, and only in networks and to addresses that OUTBOUND_ALLOW names. */
import { ScenedeltaError } from '../base/errors.js';
import type { Config } from '../process/config.js';
import type { Login } from '../secrets/login.js';
import { parseAllowList } from './address.js';
import { type CameraAddresses, createCameraAsker } from './onvif-addresses.js';
import { discoverCameras, type FoundCamera } from './onvif-discovery.js';

export interface Onvif {
  /** @throws ScenedeltaError as discoverCameras does, and 'url-refused' without ONVIF_DISCOVERY */
  discover(): Promise<{ items: FoundCamera[] }>;
  /** @throws ScenedeltaError as CameraAsker does, and 'url-refused' without ONVIF_DISCOVERY */
  addressesOf(url: string, login: Login | undefined): Promise<CameraAddresses>;
  close(): void;
}

export function createOnvif(
  config: Pick<Config, 'onvifDiscovery' | 'outboundAllow' | 'outboundTimeoutMs'>,
  now: () => number,
): Onvif {
  const allow = parseAllowList(config.outboundAllow, { publicToo: false });
  const asker = createCameraAsker({ allow, timeoutMs: config.outboundTimeoutMs, now });
  const assertOn = () => {
    if (!config.onvifDiscovery) {
      throw new ScenedeltaError('url-refused', 'this service does not search for cameras, expected ONVIF_DISCOVERY=on');
    }
  };
  return {
    async discover() {
      assertOn();
      return { items: await discoverCameras({ allow }) };
    },
    async addressesOf(url, login) {
      assertOn();
      return asker.ask(url, login);
    },
    close: () => asker.close(),
  };
}
