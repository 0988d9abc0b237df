/** Form that signs in with an API key. */
import { useState } from 'preact/hooks';
import { signIn, signInError } from './session.js';
import { t, tx } from './texts/texts.js';

export function SignIn() {
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    await signIn(key.trim());
    setBusy(false);
  };
  return (
    <form class="sign-in" onSubmit={submit}>
      <h1>{t('Sign in')}</h1>
      <label>
        {t('API key')}
        <input
          type="password"
          autocomplete="current-password"
          required
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
          aria-describedby="sign-in-help"
        />
      </label>
      <button type="submit" class="primary" disabled={busy}>
        {t('Sign in')}
      </button>
      <p role="alert" class="fault">
        {signInError.value}
      </p>
      <p id="sign-in-help" class="quiet">
        {tx(
          '{up} prints a link that signs in, and writes the first key to {file}. {create} makes others. ' +
            'The key is not stored in this browser.',
          {
            up: <code>npm run up</code>,
            file: <code>data/first-key</code>,
            create: <code>scenedelta keys create</code>,
          },
        )}
      </p>
    </form>
  );
}
