import { originAndPath, withoutSecrets } from '../../src/base/redact-url.js';

describe('withoutSecrets', () => {
  it.each([
    ['https://cam.example:8443/a@b/snap.jpg', 'https://cam.example:8443/a@b/snap.jpg'],
    ['https://cam.example/snap.jpg?token=hunter2#hunter2', 'https://cam.example/snap.jpg?...'],
    ['http://admin:hunter2@10.0.0.8/snap.jpg', 'http://10.0.0.8/snap.jpg'],
    ['rtsp://admin:hunter2@cam/stream?x=hunter2', 'rtsp://cam/stream?...'],
    ['http://hunter2@cam/', 'http://cam/'],
    ['http://a@b:hunter2@cam/', 'http://cam/'],
    ['http://admin:hun/ter2@cam/', 'http://cam/'],
    ['http://admin:hunter2?@cam/', 'http://cam/'],
    ['http://admin:hunter 2@cam/', 'http://cam/'],
    ['http:/admin:hunter2@cam/', 'cam/'],
    ['admin:hunter2@cam/snap.jpg', 'cam/snap.jpg'],
    [' http://admin:hunter2@cam/', 'http://cam/'],
    ['rtsp://cam/user=a&password=hunter2&channel=1.sdp?x', 'rtsp://cam/user=a&password=...&channel=1.sdp?...'],
    ['rtsp://cam/user=a_PWD=hunter2_channel=1/x.sdp', 'rtsp://cam/user=a_PWD=.../x.sdp'],
    ['soon?', 'soon?'],
    ['data:image/jpeg;base64,AAAA', 'data:image/jpeg;base64,AAAA'],
  ])('turns %j into %j', (given, shown) => {
    expect(withoutSecrets(given)).toBe(shown);
  });

  // Quadratic behaviour would take minutes for the longest text that a request may contain.
  it('takes linear time for a long text that is not a URL', () => {
    for (const text of [':'.repeat(1_000_000), `//${':'.repeat(1_000_000)}`, `a${'@'.repeat(1_000_000)}`]) {
      expect(withoutSecrets(text).length).toBeGreaterThan(0);
    }
  });
});

describe('originAndPath', () => {
  it('leaves out user, password and query', () => {
    expect(originAndPath('https://admin:hunter2@cam.example:8443/a/snap.jpg?token=hunter2#x')).toBe(
      'https://cam.example:8443/a/snap.jpg',
    );
    expect(originAndPath('rtsp://cam/user=a_password=hunter2_channel=1.sdp')).toBe('rtsp://cam/user=a_password=...');
  });
});
