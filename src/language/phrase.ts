/** The sentence of a message in its phrase, such as "The picture of the camera is back; it was lost at 20:05". Pure. */
import { wallTimeIn } from '../base/wall-clock.js';
import type { Message } from '../schemas/message.js';
import type { Locale } from './locales.js';
import { textIn } from './translate.js';
import { sentenceOf } from './write.js';

interface Wording {
  readonly locale: Locale;
  /** name of the camera for people */
  readonly cameraName: string;
  /** IANA name */
  readonly timeZone: string;
}

/** @param message its caption is in the language. @returns the caption, in its phrase if it has one */
export function phrased(
  { caption, phrase, since }: Pick<Message, 'caption' | 'phrase' | 'since'>,
  { locale, cameraName, timeZone }: Wording,
): string {
  if (phrase === undefined) return caption;
  const { key, n = 0 } = phrase;
  const sentence = sentenceOf(caption, locale);
  return textIn(locale, key, { n, sentence, camera: cameraName, since: wallTimeIn(Date.parse(since), timeZone) });
}
