export * from './errors.js';
export * from './json.js';
export * from './media-order.js';
export * from './media-provider.js';
export * from './money.js';
export * from './task.js';
