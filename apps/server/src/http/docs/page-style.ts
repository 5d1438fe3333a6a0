/** Of the pages for developers. The dark background is that of Swagger UI. */
export const pageStyle = `:root {
  --page: #fff; --text: #16191d; --quiet: #565e68; --line: #d9dde3; --sunk: #f3f4f6;
  --link: #0b62d6; --good: #1a7f37; --bad: #b42318;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #1c2022; --text: #e4e6e6; --quiet: #a6aeb9; --line: #3b4246; --sunk: #282d30;
    --link: #7db4ff; --good: #4ac26b; --bad: #ff8f85;
  }
}
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); overflow-wrap: anywhere; }
nav, body > main, body > header { box-sizing: border-box; max-width: 48rem; margin: 0 auto; padding: 0 1.25rem; }
nav { display: flex; gap: 1.25rem; padding-block: 1rem; font-size: 0.9375rem; }
nav a { padding-block: 0.25rem; text-decoration: none; }
nav a:first-child { font-weight: 650; color: var(--text); }
body:has(> #docs) > :is(nav, header) { max-width: 1460px; }
body > main { padding-bottom: 6rem; }
body > main:only-child { padding-top: clamp(1rem, 8vh, 5rem); }
body > header { padding-block: 1rem; }
header > p { max-width: 48rem; }
header li > code { white-space: nowrap; }
h1 { margin: 1rem 0; font-size: 2rem; line-height: 1.2; letter-spacing: -0.02em; }
h2 { margin: 2.5rem 0 0.5rem; font-size: 1.1rem; }
h2 a { color: inherit; text-decoration: none; }
a { color: var(--link); text-underline-offset: 0.15em; }
a:hover { text-decoration: underline; text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
section:target { border-left: 3px solid var(--link); padding-left: 1rem; margin-left: -1rem; }
code:not(#docs *) { font: 0.9em ui-monospace, monospace; background: var(--sunk); padding: 0.1em 0.3em; border-radius: 3px; }
ol { padding-inline-start: 1.5rem; }
ol > li { margin-block: 0.25rem; }
.about { font-size: 1.25rem; text-wrap: pretty; }
.state, .doors { padding: 0; list-style: ""; }
.state > li { position: relative; padding-inline-start: 1.5rem; margin-block: 0.25rem; }
.state > li::before {
  content: ""; position: absolute; inset-inline-start: 0.125rem; top: 0.4375rem;
  width: 0.625rem; height: 0.625rem; border-radius: 50%; background: var(--good); forced-color-adjust: none;
}
.state > .off::before { background: none; outline: 2px solid var(--quiet); outline-offset: -2px; }
.state > .bad::before { background: var(--bad); border-radius: 0; }
.doors { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); gap: 0.75rem; margin-top: 2rem; }
.doors a {
  display: grid; align-content: start; height: 100%; box-sizing: border-box; padding: 1rem 1.25rem;
  color: var(--quiet); border: 1px solid var(--line); border-radius: 0.75rem; text-decoration: none;
}
.doors a:hover { border-color: var(--link); background: var(--sunk); text-decoration: none; }
.doors strong { color: var(--link); font-size: 1.0625rem; }
#docs .information-container { display: none; }
#docs .opblock-summary-method { color: #000; text-shadow: none; }
#docs .btn.authorize { color: var(--good); border-color: var(--good); }
#docs .header-col { color: inherit; }
`;
