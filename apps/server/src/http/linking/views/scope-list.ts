import { chooseLanguage } from '../../../page-texts/language.ts';
import { type Html, html } from '../../html.ts';
import { outside } from './outside.ts';
import type { ShownScope } from './page.ts';

export function scopeList(
  scopes: readonly ShownScope[],
  preferred: readonly string[],
  isBrief = false,
): Html {
  const items = scopes.map((scope) => scopeItem(scope, preferred, isBrief));
  return html`<ul class="scopes${isBrief ? ' close' : ''}">${items}</ul>`;
}

function scopeItem(scope: ShownScope, preferred: readonly string[], isBrief: boolean): Html {
  const language = chooseLanguage(preferred, Object.keys(scope.texts));
  const { title, description = null } =
    (language === undefined ? undefined : scope.texts[language]) ?? scope;
  const lang = language === undefined ? null : html` lang="${language}"`;
  return html`
<li${lang}><p class="name">${outside(title)}</p>${
    description === null || isBrief ? null : html`<p class="quiet">${outside(description)}</p>`
  }</li>`;
}
