// Before the first paint, so that a chosen theme and language never flash. A file of its own: the policy runs no inline script.
try {
  const theme = localStorage.getItem('console.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  const language = localStorage.getItem('console.language');
  if (language === 'en' || language === 'zh') document.documentElement.lang = language;
} catch {
  // A browser that keeps nothing shows the system's theme.
}
