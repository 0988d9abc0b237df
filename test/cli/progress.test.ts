import { startProgress } from '../../src/cli/progress.js';

/** A stream that is not a terminal and records its input, and a clock that the test moves. */
function captured() {
  const written: string[] = [];
  let now = 0;
  const stream = {
    isTTY: false,
    write: (text: string) => written.push(text),
  } as unknown as NodeJS.WriteStream;
  return {
    written,
    options: { stream, clock: () => now },
    wait: (ms: number) => {
      now += ms;
    },
  };
}

describe('progress on a stream that is not a terminal', () => {
  it('prints nothing for work that ends within two seconds', () => {
    const { written, options, wait } = captured();
    const progress = startProgress(3, 'pairs', options);
    wait(1_999);
    progress.step(3);
    progress.end();
    expect(written).toEqual([]);
  });

  it('prints a plain line after two seconds, then every ten seconds, then the final count', () => {
    const { written, options, wait } = captured();
    const progress = startProgress(100, 'pairs', options);
    for (let i = 0; i < 100; i++) {
      wait(150);
      progress.step();
    }
    progress.end();
    expect(written).toEqual(['14/100 pairs after 2 s\n', '81/100 pairs after 12 s\n', '100/100 pairs after 15 s\n']);
  });

  it('prints the final count once, even if ended twice', () => {
    const { written, options, wait } = captured();
    const progress = startProgress(2, 'pairs', options);
    wait(3_000);
    progress.step();
    progress.step();
    progress.end();
    progress.end();
    expect(written).toEqual(['1/2 pairs after 3 s\n', '2/2 pairs after 3 s\n']);
  });
});
