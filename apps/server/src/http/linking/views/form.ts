import { type Html, html } from '../../html.ts';
import type { PageFrame } from './page.ts';

export type Decision = 'allow' | 'deny' | 'switch' | 'disconnect';

export function form(
  { texts, basePath }: PageFrame,
  path: string,
  formToken: string,
  content: Html,
): Html {
  // Without `autocomplete`, Firefox keeps the state of the buttons across a reload.
  return html`<form method="post" action="${basePath}${path}" autocomplete="off" data-busy="${texts.plain('form.busy')}">
<input type="hidden" name="form_token" value="${formToken}">
${content}
<p class="unseen" role="status"></p>
</form>`;
}

export function decisionButton(decision: Decision, label: Html, style = 'button'): Html {
  // What the page asks besides is for those who allow.
  const isFree = decision === 'deny' || decision === 'switch';
  return html`<button type="submit" class="${style}" name="decision" value="${decision}"${isFree ? html` formnovalidate` : null}>${label}</button>`;
}
