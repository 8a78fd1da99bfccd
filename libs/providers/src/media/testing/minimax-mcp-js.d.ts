/** What the check of the MiniMax fake uses of the vendor's own client, which ships no types. */
declare module 'minimax-mcp-js/build/utils/api.js' {
  export class MiniMaxAPI {
    constructor(config: { apiKey: string; apiHost: string; resourceMode: 'url' });
  }
}

declare module 'minimax-mcp-js/build/api/video.js' {
  import type { MiniMaxAPI } from 'minimax-mcp-js/build/utils/api.js';

  export class VideoAPI {
    constructor(api: MiniMaxAPI);
    generateVideo(order: {
      model: string;
      prompt: string;
      firstFrameImage?: string;
      duration?: number;
      resolution?: string;
      asyncMode: true;
    }): Promise<{ task_id: string }>;
    queryVideoGeneration(task: { taskId: string }): Promise<{ status: string; video_url?: string }>;
  }
}
