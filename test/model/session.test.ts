import { join } from 'node:path';
import { BundleError } from '../../src/model/bundle.js';
import { chooseProvider, oneLine, openGraph } from '../../src/model/session.js';
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

  it.each(['auto', 'cpu'])('chooses the CPU if the setting is %s, without a fallback', async (device) => {
    expect(await chooseProvider(device, true, probe())).toEqual({ provider: 'cpu', fallback: null });
  });

  it('uses CUDA, or falls back with a reason, if the setting is cuda:0', async () => {
    const { provider, fallback } = await chooseProvider('cuda:0', false, probe());
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

it('keeps the failure of CUDA, whose message begins with the signature of a function', () => {
  const call = 'onnxruntime::CudaCall(ERRTYPE, const char*, const char*, ERRTYPE, const char*, const char*, int)';
  const failure = 'CUDA failure 803: system has unsupported display driver / cuda driver combination ; GPU=0';
  expect(
    oneLine(new Error(`cuda_call.cc:123 ${call} [with ERRTYPE = cudaError] ${call} ${call} ${failure} \n\n`)),
  ).toBe(`${failure} `);
  expect(oneLine(new Error(`${'x'.repeat(400)}\nat b`))).toBe('x'.repeat(300));
});
