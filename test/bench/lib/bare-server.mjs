/**
 * The least that a server of the same framework can do with an upload: reads the form, drops the files, answers 202.
 * Started with fork(); sends its port.
 */
import multipart from '@fastify/multipart';
import Fastify from 'fastify';

const app = Fastify({ bodyLimit: 64 * 1024 * 1024 });
await app.register(multipart, { limits: { fileSize: 64 * 1024 * 1024 } });
const drop = async (request, reply) => {
  for await (const part of request.parts()) if (part.type === 'file') part.file.resume();
  return reply.code(202).send({});
};
app.post('/v1/comparisons', drop);
app.post('/v1/cameras/:id/frames', drop);
app.get('/livez', async () => ({}));
await app.listen({ host: '127.0.0.1', port: 0 });
process.send(app.server.address().port);
