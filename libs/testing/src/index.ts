export { ControllableClock } from './controllable-clock.js';
export { type RedisServer, startRedisServer } from './redis-server.js';
export { createTestDatabase, type TestDatabase } from './test-database.js';
export { describeWithRedis, flushRedisPrefix, uniqueRedisPrefix } from './test-redis.js';
export { type S3Server, startS3Server } from './s3-server.js';
export * from './media-samples/film-samples.js';
export * from './media-samples/picture-samples.js';
export * from './media-samples/sound-samples.js';
export { describeWithBrowser } from './test-browser.js';
