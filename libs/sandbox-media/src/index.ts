export { RenderPool } from './render-pool.js';
export { type VideoDescription, type RenderRequest, type SceneDescription } from './render-request.js';
