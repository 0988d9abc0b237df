/** The output files of a recording: names and contents. The caller decides the folder. */
import { posix } from 'node:path';
import { changesCsv } from './csv.js';
import { changesJson, ndjson } from './json.js';
import type { Recording } from './recording.js';
import { type ReportOptions, reportPage } from './report.js';
import { captionsVtt } from './vtt.js';

export interface OutputFile {
  /** path relative to the folder of the outputs, with / */
  readonly name: string;
  /** of captions: their video, as the records name it */
  readonly video?: string;
  /** the text in parts, once per call */
  readonly content: () => Iterable<string> | AsyncIterable<string>;
}

/** One recording with one video has its captions in changes.vtt, one with several in a file for each in vtt/. */
export function outputFiles(recording: Recording, options: ReportOptions): OutputFile[] {
  const { changes, visits, summary } = recording;
  const videos = summary.cameras.flatMap(({ files }) => files.filter(({ duration }) => duration !== null));
  const names = videos.length === 1 ? ['changes.vtt'] : uniqueNames(videos.map(({ file }) => file));
  return [
    { name: 'changes.ndjson', content: () => ndjson(changes) },
    { name: 'visits.ndjson', content: () => ndjson(visits) },
    { name: 'changes.csv', content: () => changesCsv(changes) },
    { name: 'changes.json', content: () => changesJson(recording) },
    ...videos.map(({ file }, i) => ({
      name: names[i] ?? '',
      video: file,
      content: () => captionsVtt(file, changes, visits),
    })),
    { name: 'report.html', content: () => reportPage(recording, options) },
  ];
}

/** 'vtt/12.vtt' for 'yard/12.mp4', and 'vtt/12-2.vtt' for the next video of this name. */
function uniqueNames(files: readonly string[]): string[] {
  const used = new Set<string>();
  return files.map((file) => {
    const base = posix
      .parse(file.replaceAll('\\', '/'))
      .name.replace(/[^\p{L}\p{N}._-]+/gu, '_')
      .replace(/^\.+/, '');
    for (let number = 1; ; number++) {
      const name = `vtt/${base.slice(0, 100) || 'video'}${number === 1 ? '' : `-${number}`}.vtt`;
      const key = name.toLowerCase();
      if (used.has(key)) continue;
      used.add(key);
      return name;
    }
  });
}
