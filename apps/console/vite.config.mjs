import { defineConfig } from 'vite';

/** The console is served below this path. */
const BASE = '/console/';

export default defineConfig({
  root: import.meta.dirname,
  base: BASE,
  // `vite --config apps/console/vite.config.mjs` serves the sources beside a gateway that runs on its usual port.
  server: { proxy: { '/console/api': 'http://127.0.0.1:3000', '/files': 'http://127.0.0.1:3000' } },
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    target: 'es2023',
    // Nothing inline: the policy of the page loads images and scripts from files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // What several pages use comes with the first load: fewer requests than a chunk for each.
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            {
              name: 'forms',
              test: /src\/components\/(charge|code-block|confirm|dialog|fields|link-dialog|list|secret|table|tile|day-range|spend-limits)|shell\/passkeys/,
            },
            {
              name: 'shared',
              test: /node_modules\/(?!uplot)|src\/(api|components|format|preferences|shell(?!\/(search-|shortcuts-|proof-window|session-window))|messages\/(en\.ts|en\/(common|shell)|language|words))/,
            },
          ],
        },
      },
    },
  },
  // Its warnings are about marks that packages carry for servers.
  logLevel: 'error',
});
