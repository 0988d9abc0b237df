/** Types of the W3C's WebVTT validator, which has none of its own. */
declare module 'webvtt-parser' {
  export class WebVTTParser {
    parse(
      text: string,
      mode: 'captions/subtitles/descriptions',
    ): {
      readonly cues: readonly { readonly startTime: number; readonly endTime: number; readonly text: string }[];
      readonly errors: readonly { readonly message: string; readonly line: number }[];
    };
  }
}
