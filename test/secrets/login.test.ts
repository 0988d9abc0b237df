import { describe, expect, it } from '@jest/globals';
import { loginContext, loginKey, openLogin, sealLogin } from '../../src/secrets/login.js';

const KEY = loginKey({ loginSecret: null }, 'whsec_one');
const CONTEXT = loginContext('gate', 'http://camera.example/snap.jpg');
const LOGIN = { username: 'viewer', password: 'geheim' };

describe('an encrypted login', () => {
  it('is read again, and no two are alike', () => {
    const [a, b] = [sealLogin(LOGIN, KEY, CONTEXT), sealLogin(LOGIN, KEY, CONTEXT)];
    expect(a).not.toBe(b);
    expect(openLogin(a, KEY, CONTEXT)).toEqual(LOGIN);
    expect(Buffer.from(a.slice(3), 'base64url').toString('latin1')).not.toContain('geheim');
  });

  it.each([
    ['another key', loginKey({ loginSecret: null }, 'whsec_two'), CONTEXT],
    ['another camera', KEY, loginContext('yard', 'http://camera.example/')],
    ['another host', KEY, loginContext('gate', 'http://other.example/')],
  ])('is not read with %s', (_what, key, context) => {
    const sealed = sealLogin(LOGIN, KEY, CONTEXT);
    expect(() => openLogin(sealed, key, context)).toThrow(/cannot be decrypted/);
  });

  it.each([10, 20, 40, 50])('is not read if character %d was changed', (i) => {
    const sealed = sealLogin(LOGIN, KEY, CONTEXT);
    const changed = sealed.slice(0, i) + (sealed[i] === 'A' ? 'B' : 'A') + sealed.slice(i + 1);
    expect(() => openLogin(changed, KEY, CONTEXT)).toThrow(/cannot be decrypted/);
  });

  it('survives a new webhook secret if LOGIN_SECRET is set to the earlier one', () => {
    const earlier = `whsec_${'a'.repeat(44)}`;
    const sealed = sealLogin(LOGIN, loginKey({ loginSecret: null }, earlier), CONTEXT);
    expect(openLogin(sealed, loginKey({ loginSecret: earlier }, 'whsec_new'), CONTEXT)).toEqual(LOGIN);
  });

  it('needs a LOGIN_SECRET of at least 32 characters, which the error does not show', () => {
    expect(() => loginKey({ loginSecret: 'hunter2' }, 'whsec_one')).toThrow(
      'LOGIN_SECRET has 7 characters, expected at least 32',
    );
  });
});
