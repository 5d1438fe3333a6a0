/** What the pages of the demo have beyond those of the linking flow, whose sheet precedes this one. */
export const demoStyle = `.choices { display: grid; gap: 0.75rem; }
.choice { position: relative; }
.choice > .logo { position: absolute; inset-inline-start: 0.625rem; inset-block: 0; margin-block: auto; pointer-events: none; }
.choice > .button { padding: 1rem 0.75rem 1rem 4rem; text-align: start; }
.steps { display: grid; gap: 0.375rem; padding-inline-start: 1.25rem; }

.story, .wire, .tries, .tries form { display: grid; grid-template-columns: minmax(0, 1fr); align-content: start; gap: 1.5rem; }
.wire section, .experiments, .guides { display: grid; gap: 0.75rem; }
.wire > * + section, .guides { padding-top: 1.25rem; border-top: 1px solid var(--line); }
.calls ol { display: grid; gap: 0.5rem; padding: 0; list-style: ""; font-size: 0.875rem; }
.calls code { font-size: 0.8125rem; }
.calls summary { padding: 0.5rem 0.75rem; }
.calls li { border: 1px solid var(--line); border-radius: 0.5rem; background: var(--card); }
.calls li > ol, .calls pre { margin: 0.25rem 0.75rem 0.75rem; }
.calls pre { padding: 0.5rem 0.75rem; border-radius: 0.375rem; background: var(--sunk); white-space: pre-wrap; font-size: 0.8125rem; }
.calls .expected { padding: 0.5rem 0.75rem; }
.events { display: grid; gap: 0.375rem; padding: 0; font-size: 0.875rem; }
.guides ul { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); gap: 0.75rem 1.5rem; }
.guides li { display: grid; align-content: start; }
.guides a { padding-block: 0.125rem; font-weight: 600; }

@media (min-width: 900px) {
  main:has(.wire) {
    grid-template-columns: minmax(0, 22rem) minmax(0, 1fr); grid-template-rows: auto 1fr;
    column-gap: 2.5rem; max-width: 68rem;
  }
  .story header { justify-items: start; text-align: start; }
  .story .account { justify-items: start; }
  .wire { grid-area: 1 / 2 / span 2; padding: 1.5rem; border-radius: 0.875rem; background: var(--sunk); }
  .guides, main:has(.wire) > .notes { grid-column: 1 / -1; }
}
`;
