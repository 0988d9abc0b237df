/** Settings of a command that takes a bundle and a device as options. */
import { type Config, loadConfig } from '../config.js';
import { graphCacheHome } from './graph-cache-home.js';

/** @throws ScenedeltaError 'invalid-request' if a setting or the device does not fit */
export async function configWith({ model, device }: { model?: string; device?: string }): Promise<Config> {
  const config = loadConfig();
  return {
    ...config,
    dataDir: await graphCacheHome(config.dataDir),
    defaultModel: model ?? config.defaultModel,
    // read and refused as the setting is
    device: device === undefined ? config.device : loadConfig({ DEVICE: device }).device,
  };
}
