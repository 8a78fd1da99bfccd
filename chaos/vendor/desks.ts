import { isJsonObject, type JsonObject, type JsonValue, type Medium } from '#contracts';
import {
  FakeArkVideo,
  FakeGateway,
  FakeKling,
  type FakeProtocol,
  type FakeReply,
  type FakeRequest,
  FakeVertex,
  FakeXaiImage,
  klingRefusal,
} from '#vendor-fakes';
import type { VendorKind } from './vendor-kinds.js';

/** What a vendor says of its work: `strange` is an unknown word. */
export type WorkState = 'working' | 'done' | 'strange';

/** A finished file: where it can be fetched, and its bytes. */
export interface MadeFile {
  readonly url: string;
  readonly base64: string;
}

/** A judged fake, and how its replies are set. */
export interface Desk {
  readonly fake: FakeProtocol & { readonly taken: readonly JsonObject[] };
  promptOf(order: JsonObject): string;
  mediumOf(order: JsonObject): Medium;
  /** The names by which an order can be asked about: the vendor's own, and ours where it takes one; none of a finished one. */
  namesOf(order: JsonObject, reply: JsonObject): readonly string[];
  /** The name in a question. */
  askedFor(question: FakeRequest): string;
  /** What its next answer says. */
  say(state: WorkState, medium: Medium, file: MadeFile): void;
  /** The answer to a search that finds nothing. */
  readonly notThere?: FakeReply;
}

const textIn = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const promptIn = ({ prompt }: JsonObject): string => textIn(prompt);
const lastOf = (path: string): string => decodeURIComponent(path.split('/').at(-1) ?? '');
const firstIn = (values: JsonValue | undefined): JsonObject => {
  const [first] = Array.isArray(values) ? (values as JsonValue[]) : [];
  return isJsonObject(first) ? first : {};
};

function gatewayDesk(): Desk {
  const fake = new FakeGateway();
  return {
    fake,
    promptOf: promptIn,
    mediumOf: ({ model }) => (textIn(model).includes('image') ? 'image' : 'video'),
    namesOf: (_, { data }) => [textIn(firstIn(data)['task_id'])],
    askedFor: ({ path }) => path.split('/')[3] ?? '',
    say: (state, medium, { url }) => {
      const status = { working: 'processing', strange: 'contemplating' };
      const files = medium === 'image' ? { images: [{ url, content_type: 'image/png' }] } : { videos: [{ url }] };
      fake.view =
        state === 'done' ? { result: files } : { status: status[state], result: null, usage: { final: false } };
    },
  };
}

function klingDesk(): Desk {
  const fake = new FakeKling();
  return {
    fake,
    promptOf: promptIn,
    mediumOf: () => 'video',
    namesOf: ({ external_task_id: ours }, { data }) => [
      textIn(isJsonObject(data) ? data['task_id'] : undefined),
      textIn(ours),
    ],
    askedFor: ({ path }) => lastOf(path),
    say: (state, _, { url }) => {
      const status = { working: 'processing', strange: 'contemplating' };
      fake.data =
        state === 'done'
          ? { task_result: { videos: [{ id: 'video-1', url, duration: '5' }] } }
          : { task_status: status[state], task_result: {} };
    },
    notThere: klingRefusal(404, 1203, 'the task does not exist'),
  };
}

function arkDesk(): Desk {
  const fake = new FakeArkVideo();
  return {
    fake,
    promptOf: ({ content }) => textIn(firstIn(content)['text']),
    mediumOf: () => 'video',
    namesOf: (_, { id }) => [textIn(id)],
    askedFor: ({ path }) => lastOf(path),
    say: (state, _, { url }) => {
      const status = { working: 'running', strange: 'contemplating' };
      fake.state = state === 'done' ? { content: { video_url: url } } : { status: status[state], content: {} };
    },
  };
}

function vertexDesk(): Desk {
  const fake = new FakeVertex();
  return {
    fake,
    promptOf: ({ instances }) => promptIn(firstIn(instances)),
    mediumOf: () => 'video',
    namesOf: (_, { name }) => [textIn(name)],
    askedFor: ({ body }) => textIn(body['operationName']),
    say: (state, _, { base64 }) => {
      const videos = [{ mimeType: 'video/mp4', bytesBase64Encoded: base64 }];
      fake.operation = state === 'done' ? { response: { videos } } : { done: false, response: {} };
    },
  };
}

function xaiDesk(): Desk {
  const fake = new FakeXaiImage();
  return {
    fake,
    promptOf: promptIn,
    mediumOf: () => 'image',
    namesOf: () => [],
    askedFor: () => '',
    say: (_, __, { url }) => {
      fake.data = [{ url, mime_type: 'image/png', respect_moderation: true }];
    },
  };
}

/** The desks of a vendor at which its orders are taken, each new. `first`: another one of the kind that recognises repeats. */
export const openDesks = (): Readonly<Record<VendorKind | 'first', Desk>> => ({
  first: gatewayDesk(),
  idempotent: gatewayDesk(),
  lookup: klingDesk(),
  unknown: arkDesk(),
  call: xaiDesk(),
  inline: vertexDesk(),
});
