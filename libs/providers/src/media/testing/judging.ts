import { setTimeout as sleep } from 'node:timers/promises';
import type { createAlibaba } from '@ai-sdk/alibaba';
import type { JsonObject } from '#contracts';
import type { MediaCodec } from '../http/media-codec.js';
import type { FakeProtocol, FakeReply, FakeRequest } from './fake-vendor.js';
import { written } from './field-effects.js';
import { catalogFamily } from './sample-requests.js';

/**
 * How long a client waits for its order, in milliseconds: as long as it takes, or a moment where the fake says something
 * that no order ends by.
 */
export const WAIT_MS = { finished: 60_000, endless: 200 } as const;

/** The AI SDK's; each of its packages brings a version of its own. */
type VideoModel = Pick<ReturnType<ReturnType<typeof createAlibaba>['video']>, 'doStart' | 'doStatus'>;
export type VideoOptions = Parameters<NonNullable<VideoModel['doStart']>>[0];
type Videos = Extract<
  Awaited<ReturnType<NonNullable<VideoModel['doStatus']>>>,
  { readonly status: 'completed' }
>['videos'];

/** The videos of an order that a model of the AI SDK starts and asks after, until it has ended. */
export async function orderedVideos(model: VideoModel, options: VideoOptions, mostMs: number): Promise<Videos> {
  if (!model.doStart || !model.doStatus) throw new Error('the library no longer starts orders so');
  const { operation } = await model.doStart(options);
  const begun = performance.now();
  do {
    const state = await model.doStatus({ operation });
    if (state.status === 'completed') return state.videos;
    if (state.status === 'error') throw new Error(state.error);
    await sleep(1);
  } while (performance.now() - begun < mostMs);
  throw new Error('the order did not end in time');
}

/** A fake one word of whose replies is another. */
export const mutated = <Protocol extends FakeProtocol>(protocol: Protocol, from: string, to: string): Protocol =>
  Object.assign(Object.create(protocol) as Protocol, {
    answer: (request: FakeRequest): FakeReply => {
      const { body, ...reply } = protocol.answer(request);
      return { ...reply, body: JSON.parse(JSON.stringify(body).replaceAll(from, to)) as FakeReply['body'] };
    },
  });

/** What we send for a body of the catalogue. */
export function ourBody(codec: MediaCodec, body: JsonObject & { readonly model: string }): Record<string, unknown> {
  const ours = written(codec, catalogFamily(body.model).read(body));
  if (!('body' in ours)) throw ours.cannot;
  return (JSON.parse(ours.body) as [string, Record<string, unknown>])[1];
}

/** Every field that both know, as each of them sends it: ours, then theirs. */
export function shared(ours: Record<string, unknown>, theirs: Record<string, unknown>): [unknown, unknown] {
  // They ask for the bytes in the reply, we for a link.
  const names = Object.keys(theirs).filter((name) => name in ours && name !== 'response_format');
  return [pick(ours, names), pick(theirs, names)];
}

const pick = (body: Record<string, unknown>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, body[name]]));
