import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call } from '../../api/call';
import type { JsonObject } from '../../api/types';

const SETTLED_MS = 250;

/** The cost of a request, asked for once the user pauses; the previous price stays visible meanwhile. */
export function useQuote(body: JsonObject) {
  const text = JSON.stringify(body);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const query = useQuery({
    queryKey: ['POST /quote', settled],
    queryFn: ({ signal }) => call('POST /quote', { body: JSON.parse(settled) as JsonObject }, { signal }),
    placeholderData: keepPreviousData,
  });
  return { ...query, isOld: query.isPlaceholderData || settled !== text };
}
