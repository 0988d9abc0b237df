/** The page under /docs, and the descriptions that it and generators of clients read. */
import { parse } from 'yaml';
import { fakeApp } from '../helpers/fake-app.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp();
});
afterAll(() => fake.app.close());

describe('/docs', () => {
  it.each(['/docs', '/docs/', '/docs/static/swagger-ui-bundle.js', '/docs/static/swagger-initializer.js'])(
    '%s lets a browser load its parts over plain HTTP, and no foreign scripts',
    async (url) => {
      const { statusCode, headers } = await fake.app.inject({ url });
      expect(statusCode).toBe(200);
      const policy = String(headers['content-security-policy']);
      expect(policy).not.toContain('upgrade-insecure-requests');
      expect(policy).toMatch(/(^|; )default-src 'self';/);
      expect(policy).toMatch(/; script-src 'self'/);
      expect(headers['strict-transport-security']).toBeUndefined();
    },
  );

  it('has the description as YAML without aliases, equal to the one as JSON', async () => {
    const [yaml, json] = await Promise.all(['/docs/yaml', '/docs/json'].map((url) => fake.app.inject({ url })));
    expect(yaml?.body).not.toMatch(/^[^"'`]*(: |- )[&*][a-z]\d+$/m);
    expect(parse(yaml?.body ?? '', { maxAliasCount: 0 })).toEqual(json?.json());
  });
});
