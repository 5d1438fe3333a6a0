import { type Html, html } from '../../html.ts';

export type Decision = 'allow' | 'deny' | 'switch' | 'disconnect';

export function form(action: string, formToken: string, content: Html): Html {
  // Otherwise Firefox keeps the state of the buttons across a reload.
  return html`<form method="post" action="${action}" autocomplete="off">
<input type="hidden" name="form_token" value="${formToken}">
${content}
</form>`;
}

export function decisionButton(decision: Decision, label: Html, style = 'button'): Html {
  return html`<button type="submit" class="${style}" name="decision" value="${decision}">${label}</button>`;
}
