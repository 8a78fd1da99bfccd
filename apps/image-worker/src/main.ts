import '#node-version';

// Loaded after the check of the version: an older Node cannot even link what it imports.
await import('./run-image-worker.js');
