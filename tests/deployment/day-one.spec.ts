import { describeWithRedis } from '#testing';
import { operatingSteps } from './testing/day-one/operating-steps.js';
import { sellingSteps } from './testing/day-one/selling-steps.js';
import { startingSteps } from './testing/day-one/starting-steps.js';
import { cloneSurroundings, closeStory, openStory, type Step, type Story } from './testing/day-one/story.js';

/** A stranger's first day with a production installation, by the documents alone: each step builds on the one before. */
describeWithRedis('The first day, from nothing', (redisUrl) => {
  const story = {} as Story;
  const steps: [name: string, take: () => Promise<void>][] = [];
  const step: Step = (name, take) => steps.push([`${steps.length + 1}. ${name}`, take]);
  startingSteps(step, story);
  sellingSteps(step, story);
  operatingSteps(step, story);

  beforeAll(async () => {
    Object.assign(story, await openStory(await cloneSurroundings(redisUrl)));
  });
  afterAll(() => closeStory(story));

  let failed: string | undefined;
  it.each(steps)('%s', async (name, take) => {
    // Nothing can be said about what comes after a step that failed.
    expect(failed).toBeUndefined();
    failed = name;
    await take();
    failed = undefined;
  });
});
