import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { OWN_PAGE } from '../tests/harness/console-client.js';
import type { Attack, Outcome } from './attack.js';

const GUESSES = 40;
/** Guesses in a second, over the whole run, that may be compared with the real token. */
const COMPARED_PER_SECOND = 3;
/** The log has thirty refusals a minute by line, and the number of the others when the minute is over, in milliseconds. */
const LOGGED_WITHIN_MS = 65_000;

/** Wrong tokens, one after the other, where operators sign in. */
const guessing = (name: string, guess: (url: string, token: string) => Promise<number>): Attack => ({
  name: `guesses at ${name}`,
  run: async ({ target }): Promise<Outcome> => {
    const loggedBefore = readFileSync(target.logFile, 'utf8').length;
    const statuses: number[] = [];
    const beganMs = performance.now();
    for (let index = 0; index < GUESSES; index += 1) statuses.push(await guess(target.url, `guess-${index}`));
    const breaches: string[] = [];
    const compared = statuses.filter((status) => status !== 429).length;
    const perSecond = compared / ((performance.now() - beganMs) / 1000);
    if (perSecond > COMPARED_PER_SECOND) breaches.push(`${perSecond.toFixed(1)} guesses a second were looked at`);
    if (!(await isLogged(target.logFile, loggedBefore))) breaches.push('not one guess was logged');
    return { breaches };
  },
});

async function isLogged(logFile: string, from: number): Promise<boolean> {
  const deadline = performance.now() + LOGGED_WITHIN_MS;
  while (!/\.(more_)?refused\b/.test(readFileSync(logFile, 'utf8').slice(from))) {
    if (performance.now() > deadline) return false;
    await sleep(500);
  }
  return true;
}

const adminGuess = (url: string, token: string): Promise<number> =>
  fetch(`${url}/admin/v1/accounts`, { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status);

const signInGuess = (url: string, token: string): Promise<number> =>
  fetch(`${url}/console/api/sign-in/operator`, {
    method: 'POST',
    headers: { ...OWN_PAGE, origin: url },
    body: JSON.stringify({ token }),
  }).then(({ status }) => status);

/** Last of all: from here on this address is slowed down, and the run with it. */
export const GUESSING_ATTACKS: readonly Attack[] = [
  guessing('the sign-in page', signInGuess),
  guessing('the admin interface', adminGuess),
];
