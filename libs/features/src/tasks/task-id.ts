const TASK_ID = /^task_[0-9A-HJKMNP-TV-Z]{26}$/;

/** True for what could be one of our ids; anything else need not reach the database. */
export const isTaskId = (text: string): boolean => TASK_ID.test(text);
