/** Foreign texts that the commands print: no code that a terminal obeys. */
import { printable } from '../../src/cli/print.js';

it.each([
  ['a colour', '\x1b[31mred\x1b[0m', '\ufffd[31mred\ufffd[0m'],
  [
    'the title of the window, and a clipboard',
    '\x1b]0;x\x07\x1b]52;c;eA==\x07',
    '\ufffd]0;x\ufffd\ufffd]52;c;eA==\ufffd',
  ],
  ['a code of eight bits', '\x9b2J', '\ufffd2J'],
  ['a line that overwrites the one before', 'safe\r\x08evil', 'safe\ufffd\ufffdevil'],
  ['a text that reads backwards', 'a\u202eb', 'a\ufffdb'],
  ['lines, tabs and other alphabets', 'eins\n\tzwölf 三', 'eins\n\tzwölf 三'],
])('%s', (_what, text, printed) => {
  expect(printable(text)).toBe(printed);
});
