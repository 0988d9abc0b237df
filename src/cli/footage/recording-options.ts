/**
 * Options that the commands about recordings share. Help, range and default of each are those of the batch request
 * (schemas/recording-options.ts).
 */
import type { Command } from 'commander';
import type { TSchema } from 'typebox';
import { invalidRequest } from '../../base/errors.js';
import { parseDuration } from '../../footage/inputs/times.js';
import { RECORDING_OPTIONS as OPTIONS } from '../../schemas/recording-options.js';

/** As commander reads them; text with a default is never absent. */
export interface RecordingOptions {
  readonly template?: string;
  readonly tz?: string;
  readonly start?: string;
  readonly imageInterval: string;
  readonly every: string;
  readonly exact?: true;
  readonly acrossGaps?: true;
  readonly mergeWindow?: string;
  readonly between?: readonly string[];
  readonly covered: string;
}
type Name = keyof RecordingOptions;

const TABLE: Readonly<Record<Name, readonly [flags: string, schema: TSchema, fallback?: string]>> = {
  template: ['--template <text>', OPTIONS.template],
  tz: ['--tz <zone>', OPTIONS.time_zone, 'that of the template, or of this machine'],
  start: ['--start <time>', OPTIONS.start],
  imageInterval: ['--image-interval <duration>', OPTIONS.image_interval_s],
  every: ['--every <what>', OPTIONS.every],
  exact: ['--exact', OPTIONS.exact],
  acrossGaps: ['--across-gaps', OPTIONS.across_gaps],
  mergeWindow: ['--merge-window <duration>', OPTIONS.merge_window_s],
  between: ['--between <times...>', OPTIONS.between],
  covered: ['--covered <duration>', OPTIONS.covered_s],
};
interface Keywords {
  readonly type?: string;
  readonly description?: string;
  readonly default?: string | number;
  readonly maximum?: number;
}

/** @param mode of a batch, whose part of each description is the help. @returns the command with these options */
export function withRecordingOptions(command: Command, mode: 'changes' | 'when', names: readonly Name[]): Command {
  for (const name of names) {
    const [flags, schema, fallback] = TABLE[name];
    const { type, default: value } = schema as Keywords;
    const preset = type === 'number' && value !== undefined ? `${value}s` : (value as string | undefined);
    const help = helpOf(schema as Keywords, mode);
    if (fallback === undefined) command.option(flags, help, preset);
    else command.option(flags, `${help}; default: ${fallback}`);
  }
  return command;
}

/** @returns e.g. 'with --start: time between two pictures' */
function helpOf({ description = '' }: Keywords, mode: 'changes' | 'when'): string {
  const [changes = '', when = changes] = description.split('With mode when: ');
  const text = (mode === 'when' ? when : changes).trim().replace(/\.$/, '');
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`.replace(/`(\w+)`/g, '--$1');
}

/** @returns seconds. @throws ScenedeltaError 'invalid-request' */
export function readSeconds(name: 'imageInterval' | 'mergeWindow' | 'covered', text: string): number {
  const [flags, schema] = TABLE[name];
  const [option = ''] = flags.split(' ');
  const seconds = parseDuration(text, option);
  const { maximum = Number.POSITIVE_INFINITY } = schema as Keywords;
  if (seconds <= maximum) return seconds;
  throw invalidRequest(`${option} ${JSON.stringify(text)}: expected at most ${maximum / 3600}h`);
}
