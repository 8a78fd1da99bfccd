import { type RefObject, useEffect, useRef, useState } from 'react';
import type { ConsoleFile, ConsoleTask } from '../../api/types';
import { Icon } from '../../components/icons';
import { formatBytes } from '../../format/number';
import { formatSeconds } from '../../format/time';
import { useLanguage } from '../../messages/language';

/** The text alternative of a file. */
const nameOf = (task: Pick<ConsoleTask, 'prompt' | 'model'>): string => task.prompt ?? task.model;

const isVideo = (file: ConsoleFile): boolean => file.content_type.startsWith('video/');

/** The finished files of a task, to view and to download. */
export function ResultMedia({ task }: { readonly task: Pick<ConsoleTask, 'files' | 'prompt' | 'model' | 'poster'> }) {
  return (
    <div className={task.files.length > 1 ? 'result-media several' : 'result-media'}>
      {task.files.map((file, index) => (
        <figure key={file.url ?? index}>
          <MediaFile file={file} task={task} />
          <MediaFacts file={file} />
        </figure>
      ))}
    </div>
  );
}

interface MediaFileProps {
  readonly file: ConsoleFile;
  readonly task: Pick<ConsoleTask, 'prompt' | 'model' | 'poster'>;
}

function MediaFile({ file, task }: MediaFileProps) {
  const { messages } = useLanguage();
  const label = messages.tasks.sampleOf(nameOf(task));
  const ratio = file.width && file.height ? { aspectRatio: `${file.width} / ${file.height}` } : undefined;
  if (file.url === null || file.is_expired) return <p className="media-gone muted">{messages.tasks.expired}</p>;
  if (!isVideo(file)) return <img src={file.url} alt={label} style={ratio} />;
  return (
    <video
      src={file.url + (task.poster ? '' : FIRST_IMAGE)}
      controls
      playsInline
      preload="metadata"
      aria-label={label}
      style={ratio}
      {...(task.poster && { poster: task.poster.url })}
    >
      <track kind="captions" />
    </video>
  );
}

function MediaFacts({ file }: { readonly file: ConsoleFile }) {
  const { messages, language } = useLanguage();
  const facts = [
    file.width !== null && file.height !== null && `${file.width} × ${file.height}`,
    file.duration !== null && formatSeconds(file.duration, language),
    formatBytes(file.bytes, language),
    file.content_type,
  ].filter(Boolean);
  return (
    <figcaption className="row between">
      <span className="muted small-text">{facts.join(' · ')}</span>
      {file.url !== null && !file.is_expired && (
        <a className="button small" href={file.url} download>
          <Icon name="download" size={14} />
          {messages.common.download}
        </a>
      )}
    </figcaption>
  );
}

const stillness = matchMedia('(prefers-reduced-motion: reduce)');
let playing: HTMLVideoElement | null = null;

/** Plays one preview at a time, and none when the user prefers reduced motion. */
function play(video: HTMLVideoElement | null): void {
  if (!video || stillness.matches) return;
  if (playing !== video) playing?.pause();
  playing = video;
  // A preview that may not play stays a still.
  video.play().catch(() => undefined);
}

/** How far outside of the screen a video begins to load. */
const NEAR = '300px';
/** Before this moment a video may be black; browsers that load only what they must paint nothing without it. */
const FIRST_IMAGE = '#t=0.1';

/** Whether an element has come near the screen; once it has, it stays so. */
function useIsNear(element: RefObject<Element | null>): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (isNear || !element.current) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((each) => each.isIntersecting) && setNear(true),
      { rootMargin: NEAR },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [isNear, element]);
  return isNear;
}

/** A still of a task that plays, without sound, while it is looked at. The box is there before what is in it. */
export function Preview({ task }: { readonly task: ConsoleTask }) {
  const { messages } = useLanguage();
  const video = useRef<HTMLVideoElement>(null);
  const isNear = useIsNear(video);
  const file = task.files.find(({ url, is_expired: isExpired }) => url !== null && !isExpired);
  if (!file?.url) return <p className="preview-words">{previewWords(task, messages.tasks)}</p>;
  if (!isVideo(file)) return <img src={task.poster?.url ?? file.url} alt="" loading="lazy" decoding="async" />;
  return (
    <>
      <video
        ref={video}
        {...(isNear && { src: file.url + (task.poster ? '' : FIRST_IMAGE) })}
        muted
        loop
        playsInline
        tabIndex={-1}
        aria-hidden="true"
        preload={task.poster ? 'none' : 'metadata'}
        {...(task.poster && { poster: task.poster.url })}
        onPointerEnter={() => play(video.current)}
        onPointerLeave={() => video.current?.pause()}
      />
      <span className="preview-kind" aria-hidden="true">
        <Icon name="playground" size={14} />
      </span>
    </>
  );
}

/** What is in the box of a task that has nothing to show. */
function previewWords(
  task: ConsoleTask,
  words: { readonly expired: string; readonly whoseFault: Readonly<Record<string, string>> },
): string {
  if (task.error) return words.whoseFault[task.error.code] ?? task.error.message;
  return task.files.length > 0 ? words.expired : '';
}

/** Plays or pauses the preview inside an element. */
export function togglePreview(element: Element): void {
  const video = element.querySelector('video');
  if (!video) return;
  if (video.paused) play(video);
  else video.pause();
}
