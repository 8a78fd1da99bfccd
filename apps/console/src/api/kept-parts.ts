import { useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';

/** The most parts of a list that are read again by themselves. */
const MOST_PARTS = 20;

/** What a list that is read in parts says about itself. */
interface PartedList {
  readonly data?: { readonly pages: readonly unknown[] } | undefined;
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly isPlaceholderData: boolean;
  readonly isFetchNextPageError: boolean;
  readonly fetchNextPage: () => unknown;
}

/** Has as many parts of a list read as were shown at this place of the history before the page was loaded again. */
export function useKeptParts(name: string, list: PartedList): void {
  const place = useLocation({ select: ({ state, href }) => `parts.${name}.${state.__TSR_key ?? href}` });
  const { data, hasNextPage, isFetching, isPlaceholderData, isFetchNextPageError, fetchNextPage } = list;
  const shown = isPlaceholderData ? 0 : (data?.pages.length ?? 0);
  useEffect(() => {
    if (shown === 0 || isFetching) return;
    const kept = Math.min(MOST_PARTS, readCount(place));
    if (shown > kept) writeCount(place, shown);
    else if (shown < kept && hasNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [place, shown, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage]);
}

/** For this tab only, and only while it is open. A browser that stores nothing shows the first part. */
function readCount(place: string): number {
  try {
    return Number(sessionStorage.getItem(place)) || 1;
  } catch {
    return 1;
  }
}

function writeCount(place: string, count: number): void {
  try {
    sessionStorage.setItem(place, String(count));
  } catch {
    // Private windows of some browsers refuse to keep anything.
  }
}
