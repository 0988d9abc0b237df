/** Sentences that are not the caption graph's: for unchanged scenes, and where its sentence contradicts the verdict. */
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

/** @param nuisance a name of the manifest, or undefined where there is none */
export const unchangedSentence = (nuisance: string | undefined): string =>
  nuisance === undefined ? NOTHING_CHANGED : (ONLY_NUISANCE[nuisance] ?? NOTHING_CHANGED);

const OF_TAMPERING: Readonly<Record<string, string>> = {
  blocked: 'the camera is blocked',
  defocused: 'the camera is out of focus',
  darkened: 'the picture of the camera is black',
  turned: 'the camera has been turned away',
};

/** @param tamper blocked, defocused, darkened or turned */
export const tamperSentence = (tamper: string): string =>
  OF_TAMPERING[tamper] ?? 'the camera has been tampered with';

/** Whether a sentence says that the scene stayed as it was; all of the captions' grammar do so in one of these ways. */
export const saysNothingChanged = (sentence: string): boolean =>
  /^(nothing|no|only|everything|there (is|are) no)\b|^the scene is the same\b/.test(sentence);

const BY_KIND: Readonly<Record<string, string>> = {
  appear: 'something has appeared',
  disappear: 'something has disappeared',
  move: 'something has moved',
  replace: 'something has been replaced',
  multi: 'several things have changed',
};

/**
 * What can be said without knowing what it is.
 * @param place box of the strongest region; its centre names the third of the frame
 */
export function plainSentence(kind: string, place: Box | undefined): string {
  const sentence = BY_KIND[kind] ?? 'something has changed';
  if (place === undefined) return sentence;
  const third = Math.min(2, Math.floor((place.x + place.width / 2) * 3));
  return `${sentence} ${['on the left', 'in the middle', 'on the right'][third]}`;
}

/** Words that name nothing to be seen: where they looked says nothing, so they get no heatmap of their own. */
const FUNCTION_WORDS = new Set(
  'a an the there is are has have been by on in at to of and now no longer but except from with than'.split(
    ' ',
  ),
);
export const isFunctionWord = (word: string): boolean => FUNCTION_WORDS.has(word);
