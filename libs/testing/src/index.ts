export { atBest, busySoFarMs, ownTimeMs, quickestOf } from './at-best.js';
export { bundleProgram, sharedBundle } from './bundle-program.js';
export { ControllableClock } from './controllable-clock.js';
export {
  docxSample,
  endlessPdfSample,
  pdfSample,
  pptxSample,
  xlsxSample,
  ZIP_ENCRYPTED,
  zipSample,
} from './document-samples.js';
export {
  type DurableDatabase,
  type DurableServices,
  startDurableDatabase,
  startDurableServices,
} from './durable-services.js';
export { eventually } from './eventually.js';
export { FaultProxy, type NetworkFault } from './fault-proxy.js';
export { freePort } from './free-ports.js';
export { gifSample, jpegSample, jpegSegment, pngSample, webpSample } from './media-samples/image-samples.js';
export { id3Sample, mp3Sample, wavSample } from './media-samples/sound-samples.js';
export { videoSample, isoBox, longs, movieSample, mp4Brands } from './media-samples/video-samples.js';
export { memoryRise } from './memory-rise.js';
export { type NameAnswer, startNameServer, type TestNameServer } from './name-server.js';
export { createPgvectorDatabase } from './pgvector-database.js';
export { type RedisServer, type RedisServerOptions, startRedisServer } from './redis-server.js';
export { startSentinelOverTls } from './redis-tls.js';
export { noteProcess } from './run-folder.js';
export { type S3Server, startS3Server } from './s3-server.js';
export { type SilentHandshake, startSilentHandshake } from './silent-handshake.js';
export { skewClock } from './skew-clock.js';
export { describeWithBrowser, startBrowser } from './test-browser.js';
export { createTestDatabase, PATIENT_WITH_POSTGRES, type TestDatabase } from './test-database.js';
export { describeWithPython } from './test-python.js';
export { describeWithRedis, uniqueRedisPrefix } from './test-redis.js';
export { startTestServices } from './test-services.js';
export { startTlsFront } from './tls-front.js';
export { startTraceCollector, type TraceCollector } from './trace-collector.js';
export { answerUnread } from './unread-answer.js';
export { untilBlocked } from './until-blocked.js';
