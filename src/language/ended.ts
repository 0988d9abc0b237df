/** The sentence at the end of a change: "The two people in black on the right have gone, after 3 minutes." Pure. */
import type { Statement } from '../schemas/statement.js';
import { plainStatement, tamperStatement } from './plain.js';
import { readStatement } from './read-clauses.js';
import { placeIn } from './translate.js';
import { write } from './write.js';

interface EndedChange {
  readonly kind: string;
  /** in English */
  readonly caption: string;
  /** absent: of a captioner of another grammar, or of a sentence that is read */
  readonly content?: Statement | undefined;
  readonly feedback?: { readonly caption?: string } | null;
}

/**
 * @param seconds for how long it was so; null: the sentence does not say
 * @returns the English sentence, in the words of a person who corrected the caption, if they can be read, and its
 *   statement
 */
export function endedSentence({ kind, caption, content, feedback }: EndedChange, seconds: number | null) {
  const corrected = feedback?.caption;
  const stated =
    corrected === undefined
      ? (content ?? readStatement(caption) ?? plainOf(kind))
      : (readStatement(corrected) ?? SCENE);
  const ended = { ...stated, ended_after_s: seconds };
  const place = corrected === undefined ? (placeIn(caption, stated) ?? undefined) : undefined;
  return { caption: write(ended, { place }), content: ended };
}

const plainOf = (kind: string): Statement =>
  kind === 'tamper' ? tamperStatement('tampered') : plainStatement(kind, undefined);

/** Everything is as before. */
const SCENE = plainStatement('multi', undefined);
