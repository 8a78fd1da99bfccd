import { onPlatform, runProcess } from '#platform';
import { startGateway } from './start-gateway.js';

await runProcess('gateway', () => onPlatform(startGateway));
