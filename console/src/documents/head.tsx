/** The head of every document: whose it is, and the way back if there is one. */
import type { Link } from '../../../src/schemas/documents.js';
import { Mark } from '../brand/mark.js';

export const DocumentHead = ({ back = null }: { readonly back?: Link | null }) => (
  <p class="document-head">
    <Mark />
    <b>scenedelta</b>
    {back !== null && <a href={back.url}>{back.text}</a>}
  </p>
);
