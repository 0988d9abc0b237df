/** Repeats an expectation until it holds. @throws its last failure after the limit */
export async function eventually(expectation: () => unknown, limitMs = 30_000): Promise<void> {
  const until = Date.now() + limitMs;
  for (;;) {
    try {
      await expectation();
      return;
    } catch (failure) {
      if (Date.now() > until) throw failure;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
