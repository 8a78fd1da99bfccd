/** The one style sheet. Every pair of text and ground has a contrast of at least 4.5, in light and in dark. */
export const STYLE = `
:root {
  color-scheme: light dark;
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif;
  --ground: #f6f7f9; --panel: #ffffff; --text: #1b1e27; --quiet: #5a6072; --line: #dcdfe6; --link: #1d4fb8;
  --focus: #1d4fb8; --button: #1d4fb8; --on-button: #ffffff; --danger: #a32015; --field: #ffffff; --field-line: #8b91a1;
  --queued: #3f4254; --queued-ground: #e8e9ef; --submitting: #4c2fa8; --submitting-ground: #e8e3fb;
  --running: #17459d; --running-ground: #dbe8fd; --storing: #0a5156; --storing-ground: #d0f0f1;
  --good: #12562a; --good-ground: #d8f2df; --bad: #941a11; --bad-ground: #fde0dd;
  --off: #594529; --off-ground: #efe6da; --warn: #664400; --warn-ground: #fdecbd;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #13151b; --panel: #1b1e26; --text: #e6e8ee; --quiet: #a3a9b8; --line: #323743; --link: #9dc1ff;
    --focus: #9dc1ff; --button: #2b5fc7; --on-button: #ffffff; --danger: #b3352a; --field: #12141a; --field-line: #6b7283;
    --queued: #cdd1db; --queued-ground: #2f333f; --submitting: #cdc1ff; --submitting-ground: #35295f;
    --running: #aed0ff; --running-ground: #1b3560; --storing: #92e2e5; --storing-ground: #113c40;
    --good: #96e2ae; --good-ground: #143b22; --bad: #ffb6ae; --bad-ground: #4d1d19;
    --off: #e3ccab; --off-ground: #3d3327; --warn: #f5d77d; --warn-ground: #45360e;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 0.5rem; padding: 0.3rem 0.6rem; background: var(--panel); }
header { display: flex; flex-wrap: wrap; gap: 0.4rem 1.5rem; align-items: center; padding: 0.6rem 1.5rem;
  background: var(--panel); border-bottom: 1px solid var(--line); }
.brand { font-weight: 650; white-space: nowrap; }
.brand small { color: var(--quiet); font-weight: 400; }
nav { display: flex; flex-wrap: wrap; flex: 1; gap: 0.25rem; align-items: center; }
nav a { padding: 0.3rem 0.7rem; border-radius: 0.4rem; color: var(--text); }
nav a[aria-current] { background: var(--running-ground); color: var(--running); font-weight: 600; }
nav form { margin-left: auto; }
main { max-width: 84rem; margin: 0 auto; padding: 1.25rem 1.5rem 3rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.75rem 0 0.6rem; }
h3 { font-size: 0.95rem; margin: 0 0 0.5rem; }
p { margin: 0 0 0.75rem; }
.quiet, caption { color: var(--quiet); }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 0.6rem; padding: 1rem; }
.cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(28rem, 100%), 1fr)); }
.panel > h2:first-child { margin-top: 0; }
.panel > :last-child { margin-bottom: 0; }
.scroll { overflow-x: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 0.6rem; }
.panel .scroll { border: 0; border-radius: 0; }
table { border-collapse: collapse; width: 100%; font-size: 0.93rem; }
th, td { text-align: left; padding: 0.42rem 0.75rem; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody tr:last-child > * { border-bottom: 0; }
thead th { font: inherit; font-weight: 600; color: var(--quiet); white-space: nowrap; }
tbody th { font-weight: 500; color: var(--quiet); white-space: nowrap; }
.amount { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.id, a.id, code { font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, monospace; font-size: 0.88em; }
td.id { white-space: nowrap; }
td.words { min-width: 11rem; max-width: 30rem; overflow-wrap: anywhere; }
time { white-space: nowrap; font-variant-numeric: tabular-nums; }
.state { display: inline-block; padding: 0.05rem 0.55rem; border-radius: 1rem; font-size: 0.85rem; font-weight: 550;
  white-space: nowrap; color: var(--queued); background: var(--queued-ground); }
.state.submitting { color: var(--submitting); background: var(--submitting-ground); }
.state.running { color: var(--running); background: var(--running-ground); }
.state.storing { color: var(--storing); background: var(--storing-ground); }
.state.completed, .state.good { color: var(--good); background: var(--good-ground); }
.state.failed, .state.bad { color: var(--bad); background: var(--bad-ground); }
.state.cancelled, .state.off { color: var(--off); background: var(--off-ground); }
.state.warn { color: var(--warn); background: var(--warn-ground); }
ul.attention { list-style: none; margin: 0 0 0.75rem; padding: 0; }
ul.attention li { display: flex; gap: 0.75rem; align-items: baseline; padding: 0.35rem 0; }
ul.attention li + li { border-top: 1px solid var(--line); }
ul.attention .state { flex: 0 0 auto; min-width: 5.5rem; text-align: center; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.35rem 1rem; margin: 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
dl.inline { display: block; font-size: 0.9em; }
dl.inline > div { display: inline; margin-right: 0.9rem; }
dl.inline dt, dl.inline dd { display: inline; }
.notice, .problem:not(:empty) { padding: 0.6rem 0.9rem; border-radius: 0.5rem; }
.notice { color: var(--good); background: var(--good-ground); }
.problem:not(:empty) { color: var(--bad); background: var(--bad-ground); }
form.filters { display: grid; gap: 0.6rem 0.8rem; grid-template-columns: repeat(auto-fill, minmax(12.5rem, 1fr));
  align-items: end; margin-bottom: 1rem; }
label { display: grid; gap: 0.15rem; font-size: 0.85rem; color: var(--quiet); min-width: 0; }
input, select, button { font: inherit; font-size: 0.95rem; padding: 0.4rem 0.6rem; border-radius: 0.4rem; min-width: 0; width: 100%; }
input, select { height: 2.3rem; color: var(--text); background: var(--field); border: 1px solid var(--field-line); }
button { cursor: pointer; width: auto; color: var(--on-button); background: var(--button); border: 1px solid transparent; font-weight: 550; }
button:hover { filter: brightness(1.1); }
button.danger { background: var(--danger); }
nav button, button.plain { color: var(--text); background: transparent; border-color: var(--field-line); font-weight: 400; }
td button { padding: 0.1rem 0.6rem; font-size: 0.85rem; white-space: nowrap; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.8rem; align-items: center; }
details { background: var(--panel); border: 1px solid var(--line); border-radius: 0.6rem; padding: 0.55rem 0.9rem; margin-bottom: 0.6rem; }
summary { cursor: pointer; font-weight: 550; }
details form { display: grid; gap: 0.6rem; max-width: 30rem; margin: 0.75rem 0 0.4rem; justify-items: start; }
details label { width: 100%; }
form.sign-in { display: grid; gap: 0.75rem; max-width: 24rem; justify-items: start; }
form.sign-in p { margin: 0; width: 100%; }
.pager { display: flex; gap: 1.25rem; margin: 0.8rem 0; align-items: baseline; flex-wrap: wrap; }
@media (max-width: 40rem) {
  header { padding: 0.6rem 1rem; }
  nav { flex: 1 1 100%; gap: 0; margin: 0 -0.4rem; }
  form.filters { grid-template-columns: 1fr 1fr; }
  form.filters label.long { grid-column: 1 / -1; }
  main { padding: 1rem 1rem 2.5rem; }
  nav a { padding: 0.25rem 0.4rem; font-size: 0.95rem; }
  nav button { font-size: 0.85rem; padding: 0.2rem 0.5rem; margin-left: 0.4rem; }
  th, td { padding: 0.4rem 0.55rem; }
}
`;
