/** The judge of bench peers: moments at which a program saw a change, against those of a synthetic recording. */

/** Largest distance of a moment from the change that it is of, seconds: two sampling steps. */
const NEAR = 2;

/** @param {{ from: number, until: number }[]} events @returns {number[]} a moment per appearance and per end */
export const momentsOfEvents = (events) => events.flatMap(({ from, until }) => [from, until]).sort((a, b) => a - b);

/**
 * @param {number[]} moments of a program, seconds. @param {number[]} truth
 * @returns number of true changes that have a moment nearby, and of moments that are near no change
 */
export function judgeTimes(moments, truth) {
  const isNear = (a) => (b) => Math.abs(a - b) <= NEAR;
  return {
    found: truth.filter((time) => moments.some(isNear(time))).length,
    wrong: moments.filter((time) => !truth.some(isNear(time))).length,
  };
}

/**
 * Judges planted answers, so that a judge that cannot fail is noticed before it judges a program.
 * @throws Error that names the planted answer
 */
export function plantFaults(truth) {
  const expected = { found: truth.length, wrong: 0 };
  const planted = [
    ['the truth', truth, expected],
    ['nothing', [], { found: 0, wrong: 0 }],
    ['a moment before the recording', [...truth, -60], { found: truth.length, wrong: 1 }],
    ['all but one', truth.slice(1), { found: truth.length - 1, wrong: 0 }],
  ];
  for (const [what, moments, { found, wrong }] of planted) {
    const judged = judgeTimes(moments, truth);
    if (judged.found !== found || judged.wrong !== wrong) {
      throw new Error(
        `the judge says ${JSON.stringify(judged)} of ${what}, expected ${JSON.stringify({ found, wrong })}`,
      );
    }
  }
}

/** @param {string} text @returns {number[]} every time of the form 01:02:03.456 in it, in seconds, once each */
export function secondsOf(text) {
  const times = [...text.matchAll(/\b(\d\d):(\d\d):(\d\d\.\d+)/g)];
  return [...new Set(times.map(([, hours, minutes, seconds]) => 3600 * hours + 60 * minutes + Number(seconds)))];
}
