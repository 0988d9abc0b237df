/** A mail, as a format writes it and a mail server gets it. */
export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** JPEG, shown in the HTML as cid:picture */
  readonly picture: Uint8Array | undefined;
  readonly messageId: string;
  readonly references: string;
}
