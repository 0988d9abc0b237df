/** S3 through an HTTP proxy. */
import { createS3Client } from '../../src/stores/blobs/s3-client.js';
import { startProxy } from '../helpers/proxy.js';
import { startS3 } from '../helpers/s3.js';

it('S3 is reached through a proxy', async () => {
  const s3 = await startS3();
  const proxy = await startProxy(() => Number(new URL(s3.endpoint).port));
  const config = {
    s3Endpoint: 'http://s3.example',
    s3Region: 'eu-test-1',
    s3AccessKeyId: s3.accessKeyId,
    s3SecretAccessKey: s3.secretAccessKey,
    outboundTimeoutMs: 5_000,
  };
  const client = createS3Client(config, () => new URL(proxy.url));
  await client?.put('bucket', 'a key', Buffer.from('x'));
  expect(await client?.get('bucket', 'a key')).toEqual(Buffer.from('x'));
  expect(proxy.asked).toEqual(['PUT http://s3.example/bucket/a%20key', 'GET http://s3.example/bucket/a%20key']);
  await client?.close();
  await proxy.close();
  await s3.stop();
});
