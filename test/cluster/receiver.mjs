/** `receiver.mjs ADDRESS`: the receiver of test:cluster, on a host of its own. Each message asks for its state. */
import { startReceiver } from '../chaos/receiver.mjs';

const [host] = process.argv.slice(2);
const { url, accepted, repeated } = await startReceiver({ next: () => 1, attemptsOf: async () => [], host });
process.on('message', () => {
  process.send({
    payloads: [...accepted].map(([query, payloads]) => [query, payloads.size]),
    repeated: repeated.length,
  });
});
process.on('disconnect', () => process.exit());
process.send({ url: url('') });
