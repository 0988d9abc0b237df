import { startProgress } from '../../src/cli/progress.js';

/** A stream that is no terminal and keeps what it gets, and a clock that is moved by hand. */
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

describe('progress where the output is no terminal', () => {
  it('says nothing about work that is over within two seconds', () => {
    const { written, options, wait } = captured();
    const progress = startProgress(3, 'pairs', options);
    wait(1_999);
    progress.step(3);
    progress.end();
    expect(written).toEqual([]);
  });

  it('says a plain line after two seconds, then one every ten, then where it ended', () => {
    const { written, options, wait } = captured();
    const progress = startProgress(100, 'pairs', options);
    for (let i = 0; i < 100; i++) {
      wait(150);
      progress.step();
    }
    progress.end();
    expect(written).toEqual([
      '14/100 pairs after 2 s\n',
      '81/100 pairs after 12 s\n',
      '100/100 pairs after 15 s\n',
    ]);
  });

  it('says the end once even when ended twice', () => {
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
