import { html } from '../../html.ts';
import { decisionButton, form } from './form.ts';
import { layout } from './layout.ts';
import { logo } from './logo.ts';
import { whoIs } from './outside.ts';
import type { Page, PageFrame, ShownApplication } from './page.ts';

export interface DisconnectQuestion {
  readonly application: ShownApplication & { readonly id: string };
  readonly formToken: string;
}

export function disconnectPage(
  frame: PageFrame,
  { application, formToken }: DisconnectQuestion,
): Page {
  const { texts, basePath } = frame;
  const who = whoIs(application);

  const body = html`<header>
<div class="parties">${logo(application)}</div>
<h1>${texts.of('disconnect.title', { application: who })}</h1>
<p>${texts.of('disconnect.text', { application: who })}</p>
</header>
<div class="actions">
<a class="button calm" href="${basePath}/connections">${texts.of('disconnect.cancel')}</a>
${decisionButton('disconnect', texts.of('disconnect.confirm'), 'button calm')}
</div>`;

  return layout(frame, {
    title: texts.plain('connections.title'),
    body: form(frame, `/connections/${application.id}`, formToken, body),
    logos: [application.logo_uri],
  });
}
