// One process of the gateway under chaos. It loads everything, waits for its role over its channel, and is then the real thing, but for its vendor and the place where it may kill itself.
import 'reflect-metadata';
import { once } from 'node:events';
import type { Message } from './assignment.js';

const assigned = once(process, 'message');
// The process that started this one has gone.
process.on('disconnect', () => process.exit(0));
const { startRole } = await import('./start-role.js');
const [first] = (await assigned) as [Message];
if (!('assignment' in first)) throw new Error('The first message must be an assignment.');
await startRole(first.assignment, (listen) =>
  process.on('message', (message: Message) => {
    if ('drill' in message) listen(message.drill);
  }),
);
