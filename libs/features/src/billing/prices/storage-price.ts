/** Files that accounts keep are sold under this name, as if they were a model. */
export const STORAGE_MODEL = 'file-storage';

/** A MiB that lies for a day. */
export const STORAGE_UNIT = 'storage_mb_day';
