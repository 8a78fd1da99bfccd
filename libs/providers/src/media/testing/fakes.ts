/** The fakes of vendors that a client library or a page of the vendor has judged, for tests of a whole gateway. */
export { FakeArkVideo } from './fake-ark-video.js';
export { FakeGateway } from './fake-gateway.js';
export { FakeGoogleTokens } from './fake-google-tokens.js';
export { FakeKling, klingRefusal } from './fake-kling.js';
export { type FakeProtocol, type FakeReply, type FakeRequest, FakeVendor } from './fake-vendor.js';
export { FakeVertex } from './fake-vertex.js';
export { FakeXaiImage } from './fake-xai-image.js';
export { PlainUpstream } from './plain-upstream.js';
