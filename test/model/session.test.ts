import { join } from 'node:path';
import { BundleError } from '../../src/model/bundle.js';
import { chooseProvider, openGraph } from '../../src/model/session.js';
import { TINY } from './tiny-bundle.js';

const path = (file: string) => join(TINY, file);

describe('openGraph', () => {
  it('reports on one line the file that it cannot open', async () => {
    const error = await openGraph(path('manifest.json'), 'cpu').catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(BundleError);
    expect((error as Error).message).toMatch(/manifest\.json: ONNX Runtime cannot open it: .+/);
    expect((error as Error).message).not.toContain('\n');
  });
});

/** These hold on machines with and without CUDA. */
describe('chooseProvider', () => {
  const probe = () => path('features.onnx');

  it('chooses the CPU if the setting is cpu, without a fallback', async () => {
    expect(await chooseProvider('cpu', true, probe())).toEqual({ provider: 'cpu', fallback: null });
  });

  it.each(['auto', 'cuda:0'])('uses CUDA, or falls back with a reason, if the setting is %s', async (device) => {
    const { provider, fallback } = await chooseProvider(device, false, probe());
    if (fallback === null) expect(provider).toBe('cuda:0');
    else {
      expect(provider).toBe('cpu');
      expect(fallback).toMatch(/^cuda:0 is not available: .+/);
    }
  });

  it('refuses a device that does not exist if it is strict', async () => {
    await expect(chooseProvider('cuda:99', true, probe())).rejects.toThrow(
      /^DEVICE=cuda:99 with STRICT_DEVICE: cuda:99 is not available/,
    );
  });
});
