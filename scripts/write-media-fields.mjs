// Writes docs/media-fields.md from what the protocols of media upstreams would send. Run with
// `node --import ./scripts/typescript.mjs`; a spec compares.
import { writeFileSync } from 'node:fs';
import 'reflect-metadata';
import { mediaFieldsPage } from '../libs/providers/src/media/testing/media-fields-page.ts';

writeFileSync('docs/media-fields.md', mediaFieldsPage());
