/** Entries of a list of facts. */
import type { ComponentChildren } from 'preact';
import { addressOf } from '../api/root.js';
import { t } from '../texts/texts.js';

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="clip">{children}</dd>
    </div>
  );
}

/** @param of query of the package, e.g. 'change=chg_...' */
export const Evidence = ({ of }: { readonly of: string }) => (
  <Fact name={t('Evidence')}>
    <a href={addressOf(`/v1/evidence?${of}`)} download>
      {t('signed package')}
    </a>
  </Fact>
);
