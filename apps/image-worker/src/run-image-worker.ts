import { runMediaWorker } from '#features';

await runMediaWorker('image');
