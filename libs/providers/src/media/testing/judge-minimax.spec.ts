import { VideoAPI } from 'minimax-mcp-js/build/api/video.js';
import { MiniMaxAPI } from 'minimax-mcp-js/build/utils/api.js';
import { minimaxCodec } from '../minimax/minimax.codec.js';
import { FakeMinimax } from './fake-minimax.js';
import { FakeVendor } from './fake-vendor.js';
import { mutated, ourBody, shared } from './judging.js';

const FIRST = 'https://media.example.com/first.png';

/** The client's video, by the link that it was given. */
async function judged(minimax: FakeMinimax): Promise<string> {
  const vendor = await FakeVendor.start(minimax);
  try {
    const api = new MiniMaxAPI({ apiKey: minimax.key, apiHost: vendor.baseUrl, resourceMode: 'url' });
    const video = new VideoAPI(api);
    const { task_id: taskId } = await video.generateVideo({
      model: 'MiniMax-Hailuo-02',
      prompt: 'A cat on a window sill.',
      firstFrameImage: FIRST,
      duration: 10,
      resolution: '768P',
      asyncMode: true,
    });
    const { status, video_url: url } = await video.queryVideoGeneration({ taskId });
    if (url === undefined) throw new Error(`no link, but ${status}`);
    return url;
  } finally {
    await vendor.close();
  }
}

describe('minimax-mcp-js, as a judge of the fake of MiniMax', () => {
  it('46: finishes an order against it', async () => {
    expect(await judged(new FakeMinimax())).toMatch(/output_aigc\.mp4/);
  });

  it.each([
    ['"task_id"', '"id"'],
    ['"status"', '"state"'],
    ['"Success"', '"success"'],
    ['"file_id"', '"file"'],
    ['"download_url"', '"url"'],
    ['"status_code":0', '"status_code":1000'],
  ])('46: does not finish when the fake says %s as %s', async (from, to) => {
    await expect(judged(mutated(new FakeMinimax(), from, to))).rejects.toThrow(/\S/);
  });

  it('46: does not finish with another key', async () => {
    const minimax = Object.assign(new FakeMinimax(), { keyHeader: { name: 'authorization', value: 'Bearer other' } });
    await expect(judged(minimax)).rejects.toThrow(/API key/);
  });

  it('47: agrees with us in every field that both know', async () => {
    const minimax = new FakeMinimax();
    await judged(minimax);
    const ours = ourBody(minimaxCodec, {
      model: 'epsilon-02',
      prompt: 'A cat on a window sill.',
      first_frame_image: FIRST,
      duration: 10,
    });
    const [we, they] = shared(ours, minimax.taken[0] ?? {});
    expect(we).toEqual(they);
    expect(Object.keys(we as object)).toHaveLength(5);
  });
});
