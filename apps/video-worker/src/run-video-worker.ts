import { runMediaWorker } from '#features';

await runMediaWorker('video');
