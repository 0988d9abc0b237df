/** The service below the path of PUBLIC_URL: addresses of requests, and paths in headers of answers. */
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg, post } from '../helpers/requests.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp({ publicUrl: 'https://host.example/cams/scenedelta/' });
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

describe('Below the path of PUBLIC_URL', () => {
  it.each([
    ['which the proxy left there', '/cams/scenedelta/livez', 200],
    ['which the proxy removed', '/livez', 200],
    ['with another path', '/cams/scenedelta2/livez', 404],
    ['with half of the path', '/cams/livez', 404],
    ['with the path twice', '/cams/scenedelta/cams/scenedelta/livez', 404],
    ['with another host after it', '/cams/scenedelta//other.example/', 404],
  ])('a request %s is %s: %i', async (_, url, status) => {
    expect((await fake.app.inject({ url })).statusCode).toBe(status);
  });

  it.each(['/cams/scenedelta', '/cams/scenedelta?comparison=cmp_1'])('%s leads to its slash', async (url) => {
    const { statusCode, headers } = await fake.app.inject({ url });
    expect([statusCode, headers.location]).toEqual([308, '/cams/scenedelta/']);
  });

  it.each(['', '/cams/scenedelta'])('headers of answers name it, with "%s" in the request', async (prefix) => {
    const pair = form({ before: await jpeg(10), after: await jpeg(200) });
    const { url = '', ...request } = post(pair);
    const answer = await fake.app.inject({ ...request, url: `${prefix}${url}` });
    const { id, frames } = answer.json();
    expect([answer.statusCode, answer.headers.location]).toEqual([202, `/cams/scenedelta/v1/comparisons/${id}`]);
    expect(frames.after.url).toBe(`https://host.example/cams/scenedelta/v1/comparisons/${id}/frames/after`);
    await fake.app.inject({ method: 'PUT', url: `${prefix}/v1/cameras/a`, payload: {} });
    await fake.app.inject({ method: 'PUT', url: `${prefix}/v1/cameras/b`, payload: {} });
    const { headers } = await fake.app.inject({ url: `${prefix}/v1/cameras?limit=1` });
    expect(headers.link).toBe('</cams/scenedelta/v1/cameras?limit=1&cursor=a>; rel="next"');
  });
});
