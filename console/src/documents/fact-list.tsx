/** Names and values of a record. */
import type { Facts } from '../../../src/schemas/documents.js';

export const FactList = ({ facts }: { readonly facts: Facts }) => (
  <dl class="facts">
    {facts.flatMap(([name, value], i) => [<dt key={`name-${i}`}>{name}</dt>, <dd key={`value-${i}`}>{value}</dd>])}
  </dl>
);
