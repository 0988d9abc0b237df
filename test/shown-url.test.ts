import { withoutSecrets } from '../src/shown-url.js';

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
    ['soon?', 'soon?'],
    ['data:image/jpeg;base64,AAAA', 'data:image/jpeg;base64,AAAA'],
  ])('makes of %j %j', (given, shown) => {
    expect(withoutSecrets(given)).toBe(shown);
  });
});
