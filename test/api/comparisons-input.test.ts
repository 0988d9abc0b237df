import { fakeApp } from '../helpers/fakes.js';
import { form, jpeg, post } from '../helpers/requests.js';

describe('POST /v1/comparisons: every form of input', () => {
  it('accepts two files of a form and stores them by content', async () => {
    const { app, blobs, queue } = await fakeApp();
    const [before, after] = [await jpeg(10), await jpeg(200)];
    const answer = await app.inject(post(form({ before, after, camera: 'gate-3', deadline_s: '30' })));
    expect(answer.json()).toMatchObject({ status: 'queued', camera: 'gate-3' });
    expect(answer.statusCode).toBe(202);
    expect(answer.headers.location).toBe(`/v1/comparisons/${answer.json().id}`);
    expect(answer.headers['retry-after']).toBe('2');
    expect([...blobs.kept.values()].map((bytes) => Buffer.from(bytes).equals(before))).toEqual([true, false]);
    expect(queue.jobs[0]?.job.before).toMatchObject({
      from: 'stored',
      bytes: before.length,
      contentType: 'image/jpeg',
    });
    await app.close();
  });
});
