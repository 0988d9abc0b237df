import { labCommand } from '../../src/cli/lab.js';

it('a package, which has no laboratory, says where its commands are', async () => {
  // The compiled laboratory lies beside the compiled program, and so never beside the sources.
  const { command } = await labCommand('evaluate');
  await expect(command.parseAsync(['pairs.ndjson', '--bundle', 'x'], { from: 'user' })).rejects.toThrow(
    'part of lab/, which the package leaves out; a clone of the repository has it',
  );
});
