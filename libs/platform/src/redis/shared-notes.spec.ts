import { setImmediate as nextTurn } from 'node:timers/promises';
import { describeWithRedis, eventually, FaultProxy, uniqueRedisPrefix } from '#testing';
import { RedisNotes } from './shared-notes.js';

describeWithRedis('Notes that replicas share', (redisUrl) => {
  const open: RedisNotes[] = [];
  const notesOf = (prefix: string, url = redisUrl): RedisNotes => {
    const notes = new RedisNotes(url, prefix, 'note');
    open.push(notes);
    return notes;
  };
  afterEach(() => {
    for (const notes of open.splice(0)) notes.close();
  });

  it('are read by the others until they are removed, and by nobody with another prefix', async () => {
    const prefix = uniqueRedisPrefix();
    const [one, other] = [notesOf(prefix), notesOf(prefix)];
    await eventually(async () => {
      one.write('name', 'text', 60);
      return (await other.read('name')) === 'text';
    });
    const apart = notesOf(uniqueRedisPrefix());
    expect(await eventually(async () => (await apart.read('name')) === null)).toBe(true);
    one.remove('name');
    await eventually(async () => (await other.read('name')) === null);
  });

  it('are not waited for: what Redis does not say at once is not there, and it is not asked again for a second', async () => {
    const proxy = await FaultProxy.start(redisUrl);
    const prefix = uniqueRedisPrefix();
    const notes = notesOf(prefix, proxy.urlOf(redisUrl));
    await eventually(async () => {
      notes.write('name', 'text', 60);
      return (await notes.read('name')) === 'text';
    });
    proxy.set('half-open');
    expect(await notes.read('name')).toBeUndefined();
    let atOnce = 0;
    for (let turn = 0; turn < 100; turn += 1) {
      const read = notes.read('name');
      if (await Promise.race([read.then(() => true), nextTurn().then(() => false)])) atOnce += 1;
      expect(await read).toBeUndefined();
    }
    // Redis is asked once a second, however slow the machine is.
    expect(atOnce).toBeGreaterThan(80);
    proxy.set('refuse');
    proxy.set('pass');
    await eventually(async () => (await notes.read('name')) === 'text');
    await proxy.close();
  });
});
