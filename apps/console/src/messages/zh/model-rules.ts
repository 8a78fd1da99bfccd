/** The rules of the catalogue's models, by their English words. A spec compares both. */
export const modelRules: Readonly<Record<string, string>> = {
  'prompt is required for text-to-video: send prompt, or reference images or videos.':
    '文生视频必须填写 prompt：请填写 prompt，或提供参考图片或视频。',
  'image_with_roles and image_urls exclude each other: send one of them.':
    'image_with_roles 与 image_urls 不能同用：请只填其中一项。',
  'image_with_roles cannot be combined with video_urls or audio_urls: use image_urls for reference images.':
    'image_with_roles 不能与 video_urls 或 audio_urls 同用：参考图片请用 image_urls。',
  'image_with_roles takes at most one first_frame and one last_frame.':
    'image_with_roles 中 first_frame 与 last_frame 各最多一张。',
  'image_with_roles takes at most one first_frame, which is the role of an image without one, and one last_frame.':
    'image_with_roles 中 first_frame 与 last_frame 各最多一张；未写角色的图片即 first_frame。',
  'audio_urls must accompany reference images or videos: add image_urls or video_urls.':
    'audio_urls 必须与参考图片或视频同用：请添加 image_urls 或 video_urls。',
  'size adaptive takes the ratio of an input image or video: add one, or choose a ratio.':
    'size 的 adaptive 采用输入图片或视频的比例：请添加一个，或选择一个比例。',
  'prompt is required in text mode: send prompt, or image_urls, image_with_roles or video_urls.':
    '文本模式必须填写 prompt：请填写 prompt，或提供 image_urls、image_with_roles 或 video_urls。',
  'video_urls cannot be combined with image_urls: send one of them.':
    'video_urls 不能与 image_urls 同用：请只填其中一项。',
  'video_urls cannot be combined with a first_frame image; a last_frame image alone is allowed.':
    'video_urls 不能与 first_frame 图片同用；只有 last_frame 图片是允许的。',
  'audio_url cannot be combined with video_urls: send one of them.':
    'audio_url 不能与 video_urls 同用：请只填其中一项。',
  'image_with_roles or video_urls is required: send at least one reference.':
    '必须填写 image_with_roles 或 video_urls：请至少提供一个参考素材。',
  'image_with_roles and video_urls hold at most 5 entries together.': 'image_with_roles 与 video_urls 合计最多 5 项。',
  'image_with_roles takes one first_frame image at most.': 'image_with_roles 最多有一张 first_frame 图片。',
  'duration is 2 to 10 seconds with video_urls, and 2 to 15 without.':
    'duration 在使用 video_urls 时为 2 至 10 秒，不使用时为 2 至 15 秒。',
  'last_frame_image needs first_frame_image: add it.': 'last_frame_image 需要 first_frame_image：请添加。',
  'prompt is required in text mode: send prompt, or image_urls with one image.':
    '文本模式必须填写 prompt：请填写 prompt，或在 image_urls 中提供一张图片。',
  'size is for text mode only: leave it out when image_urls is given.':
    'size 仅限文本模式：填写 image_urls 时请不要填写。',
  'size 4:3 and 3:4 need resolution 720p or 1080p; 480p allows 16:9, 9:16 or 1:1.':
    'size 为 4:3 或 3:4 时 resolution 须为 720p 或 1080p；480p 可用 16:9、9:16 或 1:1。',
  'image_urls is required with template: send exactly one image.':
    '使用 template 时必须填写 image_urls：请恰好提供一张图片。',
  'aspect_ratio is for text mode only: leave it out when image_urls is given.':
    'aspect_ratio 仅限文本模式：填写 image_urls 时请不要填写。',
  'audio true needs mode pro: mode std makes silent videos only.':
    'audio 为 true 时 mode 须为 pro：std 只生成无声视频。',
  'image_urls with two images (first and last frame) needs mode pro; mode std takes one.':
    'image_urls 有两张图片（首帧与尾帧）时 mode 须为 pro；std 只接受一张。',
  'audio true cannot be combined with two images: send one image, or audio false.':
    'audio 为 true 时不能有两张图片：请只提供一张图片，或把 audio 设为 false。',
  'duration 10 needs resolution 768p: 1080p lasts 6 seconds only.':
    'duration 为 10 时 resolution 须为 768p：1080p 只有 6 秒。',
  'first_frame_image is required by epsilon-2.3-Fast: add it, or use epsilon-2.3.':
    'epsilon-2.3-Fast 必须填写 first_frame_image：请添加，或使用 epsilon-2.3。',
  'duration 10 needs resolution 512p or 768p: 1080p lasts 5 seconds only.':
    'duration 为 10 时 resolution 须为 512p 或 768p：1080p 只有 5 秒。',
  'prompt is required in text mode: send prompt, or image_urls with one or two images.':
    '文本模式必须填写 prompt：请填写 prompt，或在 image_urls 中提供一或两张图片。',
  'size auto takes the ratio of a reference image: add image_urls, or choose a ratio.':
    'size 的 auto 采用参考图片的比例：请添加 image_urls，或选择一个比例。',
  'n (or max_images, the larger counts) and image_urls must be 15 or fewer together.':
    'n（或 max_images，取较大者）与 image_urls 合计不得超过 15。',
  'sequential_image_generation_options needs sequential_image_generation auto, or n above 1, which sets it.':
    'sequential_image_generation_options 需要 sequential_image_generation 为 auto，或 n 大于 1（会自动设为 auto）。',
};
