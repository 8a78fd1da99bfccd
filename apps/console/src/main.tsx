import './styles/base.css';
import './styles/tokens.css';
import './styles/components.css';
import './styles/shell.css';
import './styles/pages.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { onInterruption } from './api/call';
import { queryClient } from './api/queries';
import { LanguageProvider, loadFirstLanguage } from './messages/language';
import { router } from './router';
import { keepScroll } from './shell/keep-scroll';
import { needReload } from './shell/reload-notice';

onInterruption({ reloadRequired: needReload });
keepScroll(router);

const place = document.getElementById('root');
if (!place) throw new Error('index.html has lost its root');
const first = await loadFirstLanguage();
createRoot(place).render(
  <LanguageProvider first={first}>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </LanguageProvider>,
);
