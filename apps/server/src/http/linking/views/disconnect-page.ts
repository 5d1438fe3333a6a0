import { html } from '../../html.ts';
import { decisionButton, form } from './form.ts';
import { layout } from './layout.ts';
import { badge, logo } from './logo.ts';
import { plainlyWho, whoIs } from './outside.ts';
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
  const body = html`<header>
<div class="parties">${logo(application)}${badge('danger')}</div>
<h1>${
    application.device == null
      ? texts.of('disconnect.title', { application: whoIs(application, texts, 'title') })
      : texts.of('disconnect.title.device')
  }</h1>
<p>${texts.of('disconnect.text', { application: whoIs(application, texts, 'alone') })}</p>
</header>
<div class="actions decide">
<a class="button calm" href="${basePath}/connections">${texts.of('disconnect.cancel')}</a>
${decisionButton('disconnect', texts.of('disconnect.confirm'), 'button danger')}
</div>`;

  return layout(frame, {
    title:
      application.device == null
        ? texts.plain('disconnect.title', { application: plainlyWho(application, texts) })
        : texts.plain('disconnect.title.device'),
    body: form(frame, `/connections/${application.id}`, formToken, body),
    logos: [application.logo_uri],
  });
}
