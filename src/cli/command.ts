/** What the file of every command exports as `command`; main.ts finds and runs it. */
export interface Command {
  /** What --help prints after "usage: scenedelta ": the call, a blank line, then each option with its default. */
  readonly usage: string;
  /**
   * @param args without the program's and the command's name; parse them with node:util parseArgs (strict), whose complaints main.ts prints
   * @returns the exit status: 0 done, 1 it failed, 2 called wrongly.
   * @throws ScenedeltaError printed as one line (status 1; 2 where it is 'invalid-request').
   */
  run(args: string[]): Promise<number>;
}
