/** Archive work that gives way to live work. */
import { createArchiveGate } from '../../src/jobs/archive-gate.js';

it('passes although live work waits, if a suspect waits for the end of archive work', async () => {
  const busy = { getJobCountByTypes: async () => 1 };
  let suspects = 0;
  const gate = createArchiveGate(busy as never, 1, () => suspects > 0);
  let passed = false;
  const passing = gate.pass().then(() => (passed = true));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(passed).toBe(false);
  suspects = 1;
  await passing;
});
