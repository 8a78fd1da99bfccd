import '#node-version';

// Loaded after the look at the version: an older Node cannot even link what it imports.
await import('./run-api.js');
