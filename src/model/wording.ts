/**
 * Fixed sentences: for unchanged scenes, for tampering, and for a change whose decoded sentence contradicts the
 * verdict.
 */
import type { Box } from '../images.js';

export const NOTHING_CHANGED = 'nothing has changed';

const ONLY_NUISANCE: Readonly<Record<string, string>> = {
  lighting: 'only the light has changed',
  ir_switch: 'only the camera has switched between day and night mode',
  shadow: 'only the shadows have changed',
  weather: 'only the weather has changed',
  compression: 'only the compression of the picture has changed',
  noise: 'only the noise of the picture has changed',
  camera_moved: 'only the camera has moved slightly',
  defocus: 'only the focus of the camera has changed',
  foliage: 'only the leaves have moved',
  overlay: 'only the text over the picture has changed',
};

/** @param nuisance name in the manifest, or undefined if no nuisance is named */
export const unchangedSentence = (nuisance: string | undefined): string =>
  nuisance === undefined ? NOTHING_CHANGED : (ONLY_NUISANCE[nuisance] ?? NOTHING_CHANGED);

const TAMPERED: Readonly<Record<string, string>> = {
  blocked: 'the camera is blocked',
  defocused: 'the camera is out of focus',
  darkened: 'the picture of the camera is black',
  turned: 'the camera has been turned away',
};

/** @param tamper blocked, defocused, darkened or turned */
export const tamperSentence = (tamper: string): string => TAMPERED[tamper] ?? 'the camera has been tampered with';

/** Whether a sentence states that the scene is unchanged; these are all the forms of the captions' grammar. */
export const deniesChange = (sentence: string): boolean =>
  /^(nothing|no|only|everything|there (is|are) no)\b|^the scene is the same\b/.test(sentence);

const BY_KIND: Readonly<Record<string, string>> = {
  appear: 'something has appeared',
  disappear: 'something has disappeared',
  move: 'something has moved',
  replace: 'something has been replaced',
  multi: 'several things have changed',
};

/**
 * A sentence for a change of which only the kind and the location are known.
 * @param box of the strongest region, fractions of the frame; its centre chooses the third of the frame that is named
 */
export function plainSentence(kind: string, box: Box | undefined): string {
  const sentence = BY_KIND[kind] ?? 'something has changed';
  if (box === undefined) return sentence;
  const third = Math.min(2, Math.floor((box.x + box.width / 2) * 3));
  return `${sentence} ${['on the left', 'in the middle', 'on the right'][third]}`;
}

/** Words without a visible referent: their attention has no meaning, so their heatmaps stay empty. */
const FUNCTION_WORDS = new Set(
  'a an the there is are has have been by on in at to of and now no longer but except from with than'.split(' '),
);
export const isFunctionWord = (word: string): boolean => FUNCTION_WORDS.has(word);
