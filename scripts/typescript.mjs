// Lets Node run our TypeScript sources: `node --import ./scripts/typescript.mjs bench/submission.ts`.
import 'reflect-metadata';
import { register } from 'node:module';

register('./typescript-loader.mjs', import.meta.url);
