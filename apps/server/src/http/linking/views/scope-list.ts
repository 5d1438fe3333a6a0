import type { LanguageChoice } from '../../../page-texts/language.ts';
import { type Html, html } from '../../html.ts';
import { outside } from './outside.ts';
import type { ShownScope } from './page.ts';

export function scopeList(
  scopes: readonly ShownScope[],
  { wanted, language }: LanguageChoice,
  isBrief = false,
): Html {
  const items = scopes.map((scope) => {
    // A page in two languages is enough: its own, and that of the plain text.
    const own = tagIn(scope.texts, wanted) ?? tagIn(scope.texts, language);
    const { title, description = null } =
      (own === undefined ? undefined : scope.texts[own]) ?? scope;
    return html`
<li${scope.sensitive ? html` class="caution"` : null}${own === undefined ? null : html` lang="${own}"`}><p class="name">${outside(title)}</p>${
      description === null || isBrief ? null : html`<p class="quiet">${outside(description)}</p>`
    }</li>`;
  });
  return html`<ul class="scopes${isBrief ? ' close' : ''}">${items}</ul>`;
}

function tagIn(texts: ShownScope['texts'], wanted: string): string | undefined {
  return Object.keys(texts).find((tag) => tag.toLowerCase() === wanted.toLowerCase());
}
