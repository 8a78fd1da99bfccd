export { BufferSource, FileMemory, NoMemoryForFiles } from './inspect/byte-source.js';
export { decodedBase64, isDataUri } from './inspect/data-uri.js';
export { deliveredType, inspectMedia } from './inspect/inspect-media.js';
export { InvalidMedia, MediaUnreadable } from './inspect/media-unreadable.js';
export {
  checkInlineReferences,
  checkReferences,
  measuredAgain,
  measureReferences,
} from './references/check-references.js';
export { type CopiedFile, copyToStore, type FilePlace } from './store/copy-to-store.js';
export { createMediaStore } from './store/create-media-store.js';
export { extensionOf } from './store/media-key.js';
export { MediaStoreConfig } from './store/media-store-config.js';
export { type MediaStore, MediaStoreError } from './store/media-store.js';
export { inspectStoredFile, type OwnFiles } from './store/stored-source.js';
