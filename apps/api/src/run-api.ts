import { runApi } from './api-process.js';

await runApi();
