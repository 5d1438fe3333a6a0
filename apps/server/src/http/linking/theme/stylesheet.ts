import { readableOn, textOn } from './contrast.ts';

const LIGHT_CARD = '#ffffff';
const DARK_CARD = '#181b20';

// WCAG 2.2, 1.4.3.
const LEAST_TEXT_CONTRAST = 4.5;
// Light text on dark looks dimmer than its contrast says.
const DARK_TEXT_CONTRAST = 6;

const ARROWS =
  "url(\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20' fill='none' stroke='%23000' stroke-width='1.7' stroke-linecap='round' stroke-linejoin='round'%3E%3Cpath d='M13 3.5 16.5 7 13 10.5M16.5 7H4M7 9.5 3.5 13 7 16.5M3.5 13H16'/%3E%3C/svg%3E\")";
const CHECK =
  "url(\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20' fill='none' stroke='%23000' stroke-width='2.2' stroke-linecap='round' stroke-linejoin='round'%3E%3Cpath d='m4.5 10.5 3.6 3.6 7.4-8'/%3E%3C/svg%3E\")";
const WARNING =
  "url(\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20' fill='none' stroke='%23000' stroke-width='1.8' stroke-linecap='round' stroke-linejoin='round'%3E%3Cpath d='M10 3 18 17H2ZM10 8.5v3.5M10 14.5v.1'/%3E%3C/svg%3E\")";

const shape = (mask: string, color: string) =>
  `background: var(${color}); mask: ${mask} center / contain no-repeat; forced-color-adjust: none;`;

export function stylesheet(color: string): string {
  return `:root {
  color-scheme: light dark;
  --page: #f3f4f6; --card: ${LIGHT_CARD}; --sunk: #f6f7f9;
  --text: #16191d; --quiet: #565e68; --line: #d9dde3;
  --shadow: 0 1px 2px #10182814, 0 12px 32px #1018281a;
  --button: ${color}; --on-button: ${textOn(color)};
  --link: ${readableOn(LIGHT_CARD, color, LEAST_TEXT_CONTRAST)};
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d0f12; --card: ${DARK_CARD}; --sunk: #20242a;
    --text: #eceef1; --quiet: #a6aeb9; --line: #343a43;
    --shadow: none;
    --link: ${readableOn(DARK_CARD, color, DARK_TEXT_CONTRAST)};
  }
}
* { box-sizing: border-box; margin: 0; }
body {
  display: grid; grid-template-columns: minmax(0, 1fr); align-content: start; justify-items: center;
  min-height: 100vh; padding: clamp(0rem, 8vw - 2rem, 3.5rem) clamp(0rem, 8vw - 2rem, 1.5rem);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  color: var(--text); background: var(--page); overflow-wrap: anywhere;
}
main {
  display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; width: 100%; max-width: 28rem;
  padding: 2.25rem 2rem 2rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 1.125rem; box-shadow: var(--shadow);
}
main > form { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; }
header { display: grid; gap: 0.375rem; justify-items: center; text-align: center; text-wrap: balance; }
h1 { font-size: 1.375rem; font-weight: 650; line-height: 1.3; letter-spacing: -0.011em; }
h2 { font-size: 1rem; font-weight: 600; line-height: 1.4; }
h1, h2, p, dd, .name { overflow: hidden; }
:where(h1, h2, .notice, .notes > .quiet) bdi, :where(header p, .who > *) > bdi {
  display: -webkit-inline-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2;
  max-width: 100%; overflow: hidden; vertical-align: bottom;
}
.whole bdi { display: inline; overflow: visible; -webkit-line-clamp: none; }
a { color: var(--link); text-underline-offset: 0.15em; }
header a, .who a { display: inline-block; padding: 0.25rem 0; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.quiet { color: var(--quiet); font-size: 0.875rem; }
.strong { font-weight: 600; }

.parties { display: flex; align-items: center; justify-content: center; gap: 0.75rem; margin-bottom: 0.875rem; }
.parties > .between { width: 1.5rem; height: 1.5rem; ${shape(ARROWS, '--quiet')} }
.logo {
  position: relative; flex: none; display: grid; place-items: center; width: 4rem; height: 4rem; overflow: hidden;
  border: 1px solid var(--line); border-radius: 1rem; background: var(--sunk);
  font-size: 1.375rem; font-weight: 600; line-height: 1;
}
.logo > img { position: absolute; inset: 0; width: 100%; height: 100%; padding: 12%; object-fit: contain; background: #fff; }
.logo.small { width: 2.5rem; height: 2.5rem; border-radius: 0.625rem; font-size: 0.9375rem; }
.logo.round { border-radius: 50%; }

.account { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem; padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.75rem; }
.person { flex: 1 1 auto; display: flex; align-items: center; gap: 0.75rem; min-width: 0; }
.person > .who { min-width: 0; line-height: 1.35; }
.account .name { font-weight: 600; }

ul { padding: 0; list-style: none; }
.scopes { display: grid; gap: 0.75rem; margin-top: 0.75rem; }
.scopes > li { position: relative; padding-inline-start: 2rem; }
.scopes > li::before {
  content: ""; position: absolute; inset-inline-start: 0; top: 0.125rem; width: 1.25rem; height: 1.25rem;
  ${shape(CHECK, '--link')}
}
.sensitive { padding: 1rem; border: 2px solid var(--text); border-radius: 0.75rem; }
.sensitive .scopes > li::before { ${shape(WARNING, '--text')} }
.pages { display: flex; flex-wrap: wrap; justify-content: center; column-gap: 1rem; }
.scopes .name { font-weight: 500; }
.scopes.close { gap: 0.25rem; margin-top: 0.25rem; }

.choices { display: grid; gap: 0.75rem; }
h2 + .choices { margin-top: 0.75rem; }
.choice { position: relative; }
.choice > .logo { position: absolute; inset-inline-start: 0.625rem; inset-block: 0; margin-block: auto; pointer-events: none; }
.choice > .button { padding: 1rem 0.75rem 1rem 4rem; text-align: start; }
.steps { display: grid; gap: 0.375rem; padding-inline-start: 1.25rem; }

.notes { display: grid; gap: 0.375rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
.actions { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(9rem, 100%), 1fr)); grid-auto-rows: 1fr; gap: 0.75rem; }
.button {
  display: block; width: 100%; padding: 0.7rem 0.75rem;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
  color: var(--on-button); background: var(--button); border: 1px solid var(--link); border-radius: 0.75rem;
}
.button:hover { box-shadow: inset 0 0 0 99rem color-mix(in srgb, currentcolor 10%, transparent); }
.button:active { transform: translateY(1px); }
.button:disabled, .text-button:disabled { cursor: default; }
[aria-busy="true"] button { opacity: 0.7; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.button.calm { color: var(--text); background: transparent; border-color: var(--quiet); }
.text-button {
  min-height: 1.75rem; padding: 0.125rem 0; font: inherit; font-size: 0.875rem; font-weight: 500; cursor: pointer;
  color: var(--link); background: none; border: 0; border-radius: 0.375rem; text-align: start;
  text-decoration: underline; text-underline-offset: 0.15em;
}

.connections { display: grid; gap: 0.875rem; }
.connections > li { display: grid; gap: 0.75rem; padding: 1rem; border: 1px solid var(--line); border-radius: 0.875rem; }
.connections .head { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem; }
.connections .head > .who { flex: 1 1 7rem; min-width: 0; line-height: 1.35; }
summary { cursor: pointer; padding: 0.25rem 0; }
.connections .button { width: auto; padding: 0.375rem 1rem; font-size: 0.9375rem; }
.notice { padding: 0.75rem 1rem; border: 1px solid var(--line); border-inline-start: 4px solid var(--link); border-radius: 0.5rem; background: var(--sunk); }
.notice.caution { border-inline-start-color: var(--text); font-weight: 500; }
.notice.caution::before { content: "⚠\\fe0e" / ""; margin-inline-end: 0.5rem; }
.details { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.25rem 0.75rem; margin-top: 0.375rem; }
.calls ol { display: grid; gap: 0.375rem; margin-top: 0.75rem; padding-inline-start: 1.5rem; font-size: 0.875rem; }
.calls code { font-size: 0.8125rem; }
.calls pre { margin: 0.25rem 0 0.5rem; padding: 0.5rem 0.75rem; border-radius: 0.5rem; background: var(--sunk); white-space: pre-wrap; }
.details a { display: inline-block; min-height: 1.5rem; }
.details dd, .address { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }

@media (max-width: 30rem) {
  body { background: var(--card); padding: 0; }
  main { min-height: 100vh; align-content: start; padding: 1.75rem 1.25rem; border: 0; border-radius: 0; box-shadow: none; }
}
@media (prefers-reduced-motion: reduce) { .button:active { transform: none; } }
`;
}
