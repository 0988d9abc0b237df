/** Parts of bench device, each in a process of its own with a time limit, and the comparison of their answers. */
import { fork } from 'node:child_process';
import { ROOT } from '../../../scripts/lib/shell.mjs';

const SCRIPT = new URL('../device-part.mjs', import.meta.url);

/**
 * @param {object} options of the part, see device-part.mjs
 * @param {number} limitMs after which the process is killed
 * @returns {Promise<object>} ok: whether the part succeeded; reason if not; else its figures
 */
export function runPart(options, limitMs) {
  return new Promise((resolve) => {
    const child = fork(SCRIPT, [JSON.stringify(options)], { cwd: ROOT, timeout: limitMs, killSignal: 'SIGKILL' });
    let result = null;
    child.on('message', (message) => {
      result = message;
    });
    child.on('exit', (code, signal) => {
      const ended = signal === null ? `ended with code ${code}` : `was killed by ${signal}, limit ${limitMs} ms`;
      resolve(result ?? { ok: false, reason: `the part ${ended}` });
    });
  });
}

const largest = (values) => values.reduce((a, b) => Math.max(a, b), 0);
const gap = (a, b) => largest(a.map((value, i) => Math.abs(value - b[i])));

/** Regions of an answer are listed by their strength: those of equal strength may change places. */
const boxesOf = ({ regions }) =>
  regions.map(({ side, box }) => `${side} ${Object.values(box).map((value) => value.toFixed(3))}`).sort();

/**
 * @param {object[]} expected answers of the part `answers`. @param {object[]} got those of another device
 * @returns number of equal ones by aspect, and the largest differences: of confidences, of words' probabilities where
 *   the sentence is equal, of map cells; `others`: the sentences that differ
 */
export function compareAnswers(expected, got) {
  const both = expected.map((answer, i) => [answer, got[i]]);
  const equal = (of) => both.filter(([a, b]) => JSON.stringify(of(a)) === JSON.stringify(of(b)));
  const sameSentence = equal(({ caption }) => caption);
  return {
    answers: both.length,
    verdicts: equal(({ verdict }) => verdict).length,
    sentences: sameSentence.length,
    boxes: equal(boxesOf).length,
    confidence: largest(both.map(([a, b]) => Math.abs(a.confidence - b.confidence))),
    words: largest(sameSentence.map(([a, b]) => gap(a.words, b.words))),
    maps: largest(both.flatMap(([a, b]) => a.maps.map((map, side) => gap(map, b.maps[side] ?? [])))),
    others: both.filter(([a, b]) => a.caption !== b.caption).map(([a, b]) => [a.caption, b.caption]),
  };
}
