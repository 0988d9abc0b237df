/** An address to pass on: selected as a whole, and copied where the browser allows it (TLS, or this machine). */
import { t } from '../texts/texts.js';

export const CopyLink = ({ name, url }: { readonly name: string; readonly url: string }) => (
  <span class="copy-link">
    <input readOnly aria-label={name} value={url} onFocus={(event) => event.currentTarget.select()} />
    {window.isSecureContext && (
      <button type="button" onClick={() => navigator.clipboard.writeText(url)}>
        {t('Copy')}
      </button>
    )}
  </span>
);
