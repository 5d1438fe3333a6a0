import { html } from '../../http/html.ts';
import { outsideLink } from '../../http/linking/views/outside.ts';
import { guide } from '../../openapi/about.ts';

const guides = [
  ['guides/hosts.md', 'Your service', 'One route that says who the user is.'],
  ['quickstart.md', 'An application', 'The button “Connect”, and the way back with a code.'],
  ['guides/oauth-clients.md', 'Or an OAuth library', 'Which settings it needs.'],
  ['guides/guard-a-server.md', 'Your API', 'One check: whose token is it?'],
  ['guides/survive-a-lost-answer.md', 'A lost response', 'Get the grant of a code that is spent.'],
  ['guides/hear-when-a-link-ends.md', 'The end of a link', 'Take the signed events.'],
] as const;

export const guidesSection = html`<section class="guides">
<h2>Do this in your code</h2>
<ul>${guides.map(([page, name, text]) => html`<li>${outsideLink(guide(page), html`${name}`)}<span class="quiet">${text}</span></li>`)}</ul>
</section>`;
