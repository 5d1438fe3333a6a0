import { type Html, html } from '../../html.ts';

/** What the person decides on a page. */
export type Decision = 'allow' | 'deny' | 'switch' | 'disconnect';

/**
 * The one form of a page.
 *
 * @param action - where it goes, with the path of PUBLIC_URL
 * @param formToken - proves that the answer comes from this page
 */
export function form(action: string, formToken: string, content: Html): Html {
  // Without autocomplete, Firefox keeps no state of the buttons over a reload.
  return html`<form method="post" action="${action}" autocomplete="off">
<input type="hidden" name="form_token" value="${formToken}">
${content}
</form>`;
}

/** @param style - the class of the button */
export function decisionButton(decision: Decision, label: Html, style = 'button'): Html {
  return html`<button type="submit" class="${style}" name="decision" value="${decision}">${label}</button>`;
}
