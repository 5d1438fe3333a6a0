import { readableOn, textOn } from './contrast.ts';

const LIGHT_CARD = '#ffffff';
const DARK_CARD = '#181b20';

// WCAG 2.2, 1.4.3.
const LEAST_TEXT_CONTRAST = 4.5;
// Light text on dark looks dimmer than its contrast says.
const DARK_TEXT_CONTRAST = 6;

/** An icon as a mask, so that its colour is that of the text or the tone. */
const icon = (path: string) =>
  `url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20' fill='none' stroke='%23000' stroke-width='1.8' stroke-linecap='round' stroke-linejoin='round'%3E%3Cpath d='${path}'/%3E%3C/svg%3E")`;

const RING = 'M18 10a8 8 0 1 1-16 0 8 8 0 0 1 16 0Z';
const ARROWS = icon('M13 3.5 16.5 7 13 10.5M16.5 7H4M7 9.5 3.5 13 7 16.5M3.5 13H16');
const CHECK = icon('m4.5 10.5 3.6 3.6 7.4-8');
const CAUTION = icon('M10 3 18 17H2ZM10 8.5v3.5M10 14.5v.1');
const DANGER = icon(`${RING}M7 7l6 6M13 7l-6 6`);
const DEVICE = icon('M4 4.5h12v8.5H4ZM2 16h16');
const DONE = icon(`${RING}M6.5 10.3 9 12.8l4.5-5`);

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
.caution { --tone: #b54708; --tint: #fff6e0; --icon: ${CAUTION}; }
.danger { --tone: #b42318; --tint: #fdeeec; --icon: ${DANGER}; }
.done { --tone: #067647; --tint: #e6f7ee; --icon: ${DONE}; }
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d0f12; --card: ${DARK_CARD}; --sunk: #20242a;
    --text: #eceef1; --quiet: #a6aeb9; --line: #343a43;
    --shadow: none;
    --link: ${readableOn(DARK_CARD, color, DARK_TEXT_CONTRAST)};
  }
  .caution { --tone: #fdb022; --tint: #2e2511; }
  .danger { --tone: #f97066; --tint: #331c1b; }
  .done { --tone: #47cd89; --tint: #15291f; }
}
* { box-sizing: border-box; margin: 0; }
body {
  display: grid; grid-template-columns: minmax(0, 1fr); align-content: safe center; justify-items: center;
  min-height: 100vh; min-height: 100svh; padding: clamp(1rem, 6vh, 3.5rem) max(1.5rem, env(safe-area-inset-left), env(safe-area-inset-right));
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  color: var(--text); background: var(--page); overflow-wrap: anywhere;
}
main {
  --side: 2rem; --end: 2rem;
  display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; width: 100%; max-width: 28rem;
  padding: 2.25rem var(--side) var(--end); background: var(--card);
  border: 1px solid var(--line); border-radius: 1.125rem; box-shadow: var(--shadow);
}
main:has(> .connections) { max-width: 40rem; }
main > form { display: flex; flex-direction: column; gap: 1.5rem; }
header { display: grid; gap: 0.375rem; justify-items: center; text-align: center; text-wrap: balance; }
h1 { font-size: 1.5rem; font-weight: 650; line-height: 1.3; letter-spacing: -0.014em; }
h2 { font-size: 1rem; font-weight: 600; line-height: 1.4; }
h1, h2, p, dd, .name, .question { overflow: hidden; }
a { color: var(--link); text-underline-offset: 0.15em; }
header a, .who a { display: inline-block; padding: 0.25rem 0; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.quiet { color: var(--quiet); font-size: 0.875rem; }
.strong { font-weight: 600; }
/* Whose a host is has to stand out in a bold title too. */
:is(h1, h2) > bdi:has(> strong) { font-weight: 400; }
.claim { text-decoration: underline dotted; text-underline-offset: 0.2em; }
time { white-space: nowrap; }
.unbroken { word-break: break-all; }

.parties { display: flex; align-items: center; justify-content: center; gap: 0.75rem; margin-bottom: 0.875rem; }
.parties > .between { width: 1.5rem; height: 1.5rem; ${shape(ARROWS, '--quiet')} }
.logo {
  position: relative; flex: none; display: grid; place-items: center; width: 4rem; height: 4rem; overflow: hidden;
  border: 1px solid var(--line); border-radius: 1rem; background: var(--sunk);
  font-size: 1.375rem; font-weight: 600; line-height: 1;
}
.logo > img { position: absolute; inset: 0; width: 100%; height: 100%; padding: 12%; object-fit: contain; background: #fff; }
.logo.small { width: 2.5rem; height: 2.5rem; border-radius: 0.625rem; font-size: 0.9375rem; }
.logo.device::before { content: ""; width: 50%; height: 50%; ${shape(DEVICE, '--quiet')} }
.logo.round { border-radius: 50%; }
.tone { padding: 0.25rem; border-radius: 50%; background: var(--tint); }
.tone::before { content: ""; display: block; width: 1.5rem; height: 1.5rem; ${shape('var(--icon)', '--tone')} }
.tone:last-child { position: relative; align-self: end; margin: 0 -0.875rem -0.5rem; inset-inline-start: -0.875rem; box-shadow: 0 0 0 3px var(--card); }

.account { display: grid; grid-template-columns: minmax(0, 1fr); justify-items: center; gap: 0.25rem; }
.person { display: flex; align-items: center; gap: 0.625rem; max-width: 100%; padding: 0.3125rem; padding-inline-end: 1.125rem; border: 1px solid var(--line); border-radius: 1.625rem; background: var(--sunk); }
.person > .who { min-width: 0; line-height: 1.35; }
.person > .logo { background: var(--card); }
.account .name { font-weight: 600; }

/* With none, Safari would not call it a list. */
ul { padding: 0; list-style: ""; }
.scopes { display: grid; gap: 0.75rem; margin-top: 0.75rem; }
.scopes > li { position: relative; padding-inline-start: 2rem; }
.scopes > li::before {
  content: ""; position: absolute; inset-inline-start: 0; top: 0.125rem; width: 1.25rem; height: 1.25rem;
  ${shape(CHECK, '--link')}
}
.optional { display: grid; gap: 0.5rem; margin-top: 0.5rem; }
.optional label { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.75rem; padding: 0.25rem 0; cursor: pointer; }
.optional input { width: 1.25rem; height: 1.25rem; margin: 0.125rem 0 0; accent-color: var(--link); cursor: pointer; }
.optional span { display: block; }
.optional .notice { margin-top: 0.5rem; }
fieldset { min-width: 0; padding: 0; border: 0; }
.question { display: block; padding: 0; font-weight: 600; line-height: 1.4; }
select {
  width: 100%; min-height: 2.75rem; margin-top: 0.5rem; padding: 0.5rem 0.625rem; font: inherit; cursor: pointer;
  color: var(--text); background: var(--card); border: 1px solid var(--quiet); border-radius: 0.75rem;
}
section.caution { padding: 1rem; border-radius: 0.75rem; background: var(--tint); }
.scopes > .caution::before { ${shape('var(--icon)', '--tone')} }
.pages { display: flex; flex-wrap: wrap; column-gap: 1rem; }
.pages > a { padding: 0.125rem 0; }
:is(.scopes, .optional) .name { font-weight: 500; }
.scopes.close { gap: 0.25rem; margin-top: 0.25rem; }

.notes { display: grid; gap: 0.375rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
.actions { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(7.5rem, 100%), 1fr)); grid-auto-rows: 1fr; gap: 0.75rem; }
.decide {
  margin: auto calc(-1 * var(--side)) calc(-1 * var(--end)); padding: 1rem var(--side) max(1rem, env(safe-area-inset-bottom));
  background: var(--card); border-top: 1px solid var(--line); border-radius: 0 0 1.0625rem 1.0625rem;
}
.notes:has(+ .decide) { padding: 0; border: 0; }
/* On a lower window, or one that is zoomed in, it would hide what it is about. */
@media (min-height: 20rem) {
  .decide { position: sticky; bottom: 0; animation: more linear both; animation-timeline: scroll(); }
  :root:has(.decide) { scroll-padding-bottom: 8rem; }
  .decide > * { scroll-margin-bottom: -8rem; }
}
/* Says that there is more below, until there is not. */
@keyframes more { 0%, 99% { box-shadow: 0 -0.75rem 1rem -0.5rem color-mix(in srgb, var(--text) 22%, transparent); } }
.button {
  display: block; width: 100%; padding: 0.7rem 0.75rem;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
  color: var(--on-button); background: var(--button); border: 1px solid var(--link); border-radius: 0.75rem;
}
.button:hover { box-shadow: inset 0 0 0 99rem color-mix(in srgb, currentcolor 10%, transparent); }
.button:disabled, .text-button:disabled { cursor: default; }
[aria-busy="true"] button { opacity: 0.7; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.button.calm { color: var(--text); background: transparent; border-color: var(--quiet); }
.button.danger { color: #fff; background: #c4281c; border-color: var(--tone); }
.text-button {
  min-height: 1.75rem; padding: 0.125rem 0; font: inherit; font-size: 0.875rem; font-weight: 500; cursor: pointer;
  color: var(--link); background: none; border: 0; border-radius: 0.375rem;
  text-decoration: underline; text-underline-offset: 0.15em;
}

.connections { display: grid; gap: 0.875rem; }
.connections > li { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: 0.75rem; padding: 1rem; border: 1px solid var(--line); border-radius: 0.875rem; }
.connections > li > :nth-child(n + 3) { grid-column: 1 / -1; }
.connections > li > .who { align-self: center; line-height: 1.35; }
.connections > li > .button { grid-area: 1 / 3; align-self: start; padding: 0.375rem 1rem; font-size: 0.9375rem; }
summary { cursor: pointer; padding: 0.25rem 0; }
.notice { position: relative; padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 0.75rem; background: var(--sunk); }
.notice:is(.caution, .done) { padding-inline-start: 2.875rem; border-color: transparent; background: var(--tint); }
.notice:is(.caution, .done)::before {
  content: ""; position: absolute; inset-inline-start: 0.875rem; top: 0.875rem; width: 1.25rem; height: 1.25rem;
  ${shape('var(--icon)', '--tone')}
}
.details { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.25rem 0.75rem; margin-top: 0.375rem; }
.details a { display: inline-block; min-height: 1.5rem; }
.details dd, .address { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }

@media (max-width: 30rem) {
  body { background: var(--card); padding: 0; }
  main {
    --side: max(1.25rem, env(safe-area-inset-left), env(safe-area-inset-right)); --end: 1.75rem;
    min-height: 100vh; min-height: 100svh; align-content: safe center; gap: 1.25rem; padding-top: 1.5rem; border: 0; border-radius: 0; box-shadow: none;
  }
  main:has(.decide) { align-content: stretch; }
  main > form:has(.decide) > header { margin-top: auto; }
  .connections > li > .button { grid-area: auto / 1 / auto / -1; }
  .decide { border-radius: 0; padding-top: 0.75rem; }
  h1 { font-size: 1.3125rem; }
  .logo:not(.small) { width: 3.25rem; height: 3.25rem; border-radius: 0.875rem; }
}
@media (prefers-reduced-motion: no-preference) {
  a, button, summary { transition: 120ms ease-out; transition-property: color, background-color, border-color, box-shadow, transform, opacity, text-decoration-thickness; }
  .button:active { transform: translateY(1px); }
}
`;
}
