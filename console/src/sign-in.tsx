/** Form that signs in with an API key. */
import { useState } from 'preact/hooks';
import { signIn, signInError } from './session.js';

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
      <h1>Sign in</h1>
      <label>
        API key
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
        Sign in
      </button>
      <p role="alert" class="fault">
        {signInError.value}
      </p>
      <p id="sign-in-help" class="quiet">
        <code>npm run up</code> prints a link that signs in, and writes the first key to <code>data/first-key</code>.{' '}
        <code>scenedelta keys create</code> makes others. The key is not stored in this browser.
      </p>
    </form>
  );
}
