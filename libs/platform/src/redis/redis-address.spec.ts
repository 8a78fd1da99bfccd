import { parseRedisAddress } from './redis-address.js';

describe('parseRedisAddress', () => {
  it.each([
    ['redis://localhost', { kind: 'standalone', hosts: [{ host: 'localhost', port: 6379 }], database: 0, tls: false }],
    ['rediss://h:6380/3', { kind: 'standalone', hosts: [{ host: 'h', port: 6380 }], database: 3, tls: true }],
    ['redis://[::1]:7000', { kind: 'standalone', hosts: [{ host: '::1', port: 7000 }] }],
    ['redis://me:p%40ss:word@h', { username: 'me', password: 'p@ss:word' }],
    ['redis://:secret@h', { username: undefined, password: 'secret' }],
    ['redis://h:7000?cluster=true', { kind: 'cluster', hosts: [{ host: 'h', port: 7000 }] }],
    [
      'redis-cluster://a:7000,b:7001',
      {
        kind: 'cluster',
        hosts: [
          { host: 'a', port: 7000 },
          { host: 'b', port: 7001 },
        ],
      },
    ],
    [
      'rediss-sentinel://a,b:26380/main?db=2',
      {
        kind: 'sentinel',
        hosts: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 26_380 },
        ],
        name: 'main',
        database: 2,
        tls: true,
      },
    ],
  ])('reads %s', (url, address) => {
    expect(parseRedisAddress(url)).toMatchObject(address);
  });

  it.each([
    ['http://h', 'must look like'],
    ['redis://a,b', 'several hosts'],
    ['redis://h/main', 'not a database number'],
    ['redis://h:99999', 'not host:port'],
    ['redis-cluster://h/1', 'only database 0'],
    ['redis-sentinel://h', 'must name the master'],
  ])('refuses %s', (url, reason) => {
    expect(() => parseRedisAddress(url)).toThrow(reason);
  });
});
