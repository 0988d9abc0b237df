/** A mail, as a format writes it and a mail server gets it. */
export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** JPEG, shown in the HTML as cid:picture */
  readonly picture: Uint8Array | undefined;
  /** further JPEGs, shown as cid:crop-0, cid:crop-1 and so on; absent: none */
  readonly crops?: readonly Uint8Array[];
  readonly messageId: string;
  readonly references: string;
}
