// The stranger's first day (tests/deployment/testing/day-one) from the built image, with the commands and the
// environment of docker-compose.yml and .env, behind its load balancer; and the upgrade of what the first release left.
// Started by scripts/test-image.mjs in a network namespace of its own.
import { after, before, describe, it } from 'node:test';
import { expect } from 'expect';
import { ComposePlace } from './compose-place.mjs';

// The steps are those of a test that Jest runs.
globalThis.expect = expect;
const DAY_ONE = '../../tests/deployment/testing/day-one';
const { Installation, ROLES } = await import(`${DAY_ONE}/installation.ts`);
const { operatingSteps } = await import(`${DAY_ONE}/operating-steps.ts`);
const { sellingSteps } = await import(`${DAY_ONE}/selling-steps.ts`);
const { startingSteps } = await import(`${DAY_ONE}/starting-steps.ts`);
const { Client } = await import(`${DAY_ONE}/client.ts`);
const { closeStory, openStory, settingsFor } = await import(`${DAY_ONE}/story.ts`);

const { FIRST_RELEASE_SETTINGS, loadFirstRelease } = await import(`${DAY_ONE}/../first-release/first-release.ts`);

const LIMIT = { timeout: 120_000 };
/** Where the load balancer of the compose file answers customers, and where operators. */
const CUSTOMERS = 'http://localhost:8080';
const OPERATORS = 'http://localhost:8081';
/** The operator's folder as the containers see it. */
const FOLDER_INSIDE = '/mnt';

describe('The first day with the built image, from nothing', () => {
  const story = {};
  const steps = [];
  const step = (name, take) => steps.push([`${steps.length + 1}. ${name}`, take]);
  startingSteps(step, story);
  sellingSteps(step, story);
  operatingSteps(step, story);
  let compose;

  before(async () => {
    const opened = await openStory({ folderInside: FOLDER_INSIDE, openPlace: () => places.next().value });
    compose = new ComposePlace(JSON.parse(process.env.IMAGE_UNDER_TEST), settingsFor(opened.receiver, FOLDER_INSIDE));
    const places = emptyPlaces(compose);
    await compose.open();
    Object.assign(story, opened, { folder: compose.writableFolder('operator') });
  }, LIMIT);
  after(async () => {
    await closeStory(story);
    await compose.close();
  }, LIMIT);

  let failed;
  for (const [name, take] of steps)
    it(name, LIMIT, async () => {
      // Nothing can be said about what comes after a step that failed.
      expect(failed).toBeUndefined();
      failed = name;
      await take();
      failed = undefined;
    });
});

describe('An upgrade with the built image, from the data of the first release', () => {
  let compose;
  let installation;
  let old;

  before(async () => {
    compose = new ComposePlace(JSON.parse(process.env.IMAGE_UNDER_TEST), { SANDBOX_BILLING_ENABLED: 'true' });
    await compose.open();
    const { DATABASE_URL } = compose.services.api.environment;
    const upgraded = DATABASE_URL.replace(/gateway$/, 'upgraded').replace('@postgres:', '@127.0.0.1:');
    old = await loadFirstRelease(upgraded);
    const settings = { ...FIRST_RELEASE_SETTINGS, DATABASE_URL: upgraded, PUBLIC_BASE_URL: CUSTOMERS };
    installation = Installation.behind(CUSTOMERS, settings, launchFrom(compose));
  }, LIMIT);
  after(async () => {
    installation?.kill();
    await compose.close();
  }, LIMIT);

  it('is not served before it was migrated; then it is, by every process', LIMIT, async () => {
    await expect(installation.start('api')).rejects.toThrow(/npm run migrate/);
    expect(await installation.run('migrate')).toMatch(/^Applied 2026112/);
    for (const role of ROLES) await installation.start(role);
  });

  it('shows tasks, balances, usage, records and endpoints as the first release did', LIMIT, async () => {
    const first = new Client(CUSTOMERS, old.keys.first);
    const facts = ({ task_id, status, usage }) => ({ task_id, status, usage });
    expect((await first.data('GET', '/v1/tasks?limit=100')).map(facts)).toMatchObject(old.first.tasks.map(facts));
    expect((await first.send('GET', '/v1/user/balance')).body).toMatchObject(old.first.balance);
    expect(await first.data('GET', '/v1/usage?group_by=model')).toMatchObject(old.first.usage);
    expect(await first.data('GET', '/v1/usage/records?limit=100')).toMatchObject(old.first.records);
    expect(await first.data('GET', '/v1/webhooks/endpoints')).toMatchObject(old.first.endpoints);
  });

  it('finishes what was being made and what waited, and the ledger adds up', LIMIT, async () => {
    const studio = new Client(CUSTOMERS, old.keys.studio);
    for (const id of [old.tasks.running, old.tasks.waiting])
      expect((await studio.finished(id)).status).toBe('completed');
    const admin = new Client(OPERATORS, FIRST_RELEASE_SETTINGS.ADMIN_TOKEN);
    const { body } = await admin.send('POST', '/admin/v1/reconciliations?full=true');
    expect(body.data).toMatchObject({ balanced: true, findings: [] });
    expect((await installation.stop()).map(([, code]) => code)).toEqual(ROLES.map(() => 0));
  });
});

/** The database and the bucket of the compose file, and then those that a backup is restored into. */
function* emptyPlaces(compose) {
  const { DATABASE_URL } = compose.services.api.environment;
  yield placeOf(compose, {});
  yield placeOf(compose, { DATABASE_URL: DATABASE_URL.replace(/gateway$/, 'restored'), MEDIA_S3_BUCKET: 'restored' });
}

function placeOf(compose, ownSettings) {
  const installation = Installation.behind(CUSTOMERS, ownSettings, launchFrom(compose));
  return {
    installation,
    operatorUrl: OPERATORS,
    adminToken: compose.services.api.environment.ADMIN_TOKEN,
    // .env names the key of a first account.
    firstAccounts: ['First account'],
    close: () => installation.kill(),
  };
}

/** Runs a command of the image as `docker compose run SERVICE` would; commands that end run with the settings of the API. */
const launchFrom = (compose) => (command, args, environment) => {
  const service = compose.services[command] ?? compose.services.api;
  const words = compose.services[command]?.command ?? [command];
  return compose.image.start([...words, ...args], {
    environment: { ...service.environment, ...environment },
    volumes: [...compose.volumes(command), `${compose.writableFolder('operator')}:${FOLDER_INSIDE.slice(1)}`],
  }).child;
};
