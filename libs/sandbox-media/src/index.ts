export { readTracks } from './decoders/read-mp4.js';
export { readPng } from './decoders/read-png.js';
export { RenderPool } from './render-pool.js';
export { type VideoDescription, type RenderRequest, type SceneDescription } from './render-request.js';
