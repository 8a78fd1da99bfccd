/** What the catalogue says of its models, by its own words. A spec compares both. */
export const modelSummaries: Readonly<Record<string, string>> = {
  'Images up to 4K from a text or from reference images; several at once on the basis of a reference.':
    '由文本或参考图片生成最高 4K 的图片；可基于参考一次生成多张。',
  'One image from a text, light and fast.': '由文本生成一张图片，轻量快速。',
  'Up to 10 edited versions of an image.': '对一张图片生成最多 10 个编辑版本。',
  'Up to 6 images from a text or from reference images; pro renders text and texture better.':
    '由文本或参考图片生成最多 6 张图片；pro 对文字和质感的表现更好。',
  'Up to 10 images from a text.': '由文本生成最多 10 张图片。',
  'Videos with the subjects of 1 to 7 reference images; mix favours image quality.':
    '以 1 至 7 张参考图片中的主体生成视频；mix 偏重画质。',
  'Videos with the characters of reference images and videos.': '以参考图片和视频中的角色生成视频。',
  'Videos from a text, a first frame, an end frame, or both frames.': '由文本、首帧、尾帧或首尾帧生成视频。',
  'Videos from text, first and last frames, or as the continuation of a video.':
    '由文本、首尾帧生成视频，或续写一段视频。',
  'Videos from text, frames, or reference images, videos and audio; the face models allow real people.':
    '由文本、帧或参考图片、视频、音频生成视频；face 模型允许真人。',
  'Videos from a text, a first frame, or a first and a last frame, in two grades.':
    '由文本、首帧或首尾帧生成视频，分两种档次。',
  'Videos from a text or a first frame, with audio, several shots, or an effect template.':
    '由文本或首帧生成视频，可带声音、多镜头或特效模板。',
  'Videos with sound from a text, a start image, or a first and a last frame.':
    '由文本、起始图片或首尾帧生成有声视频。',
  'Videos with sound from a text or a first frame.': '由文本或首帧生成有声视频。',
  'Videos from a text or a first frame, with camera commands in the prompt.':
    '由文本或首帧生成视频，可在提示词中写镜头指令。',
  'Videos up to 4K from a text, a first frame, or a first and a last frame; up to four at once.':
    '由文本、首帧或首尾帧生成最高 4K 的视频；一次最多四个。',
  'Text from text and images, with tools, at once or as a stream.':
    '由文本和图片生成文本，可用工具，一次返回或流式返回。',
  'Vectors from texts.': '将文本转换为向量。',
};
