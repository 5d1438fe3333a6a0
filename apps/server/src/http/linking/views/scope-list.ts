import type { LanguageChoice } from '../../../page-texts/language.ts';
import { type Html, html } from '../../html.ts';
import type { PageTexts } from '../text-catalog.ts';
import { outside } from './outside.ts';
import type { ShownScope } from './page.ts';

export function scopeList(
  scopes: readonly ShownScope[],
  languages: LanguageChoice,
  isBrief = false,
): Html {
  const items = scopes.map((scope) => {
    const { lang, title, description } = wordsOf(scope, languages);
    return html`
<li${scope.sensitive ? html` class="caution"` : null}${lang}><p class="name">${title}</p>${
      description === null || isBrief ? null : html`<p class="quiet">${description}</p>`
    }</li>`;
  });
  return html`<ul class="scopes${isBrief ? ' close' : ''}">${items}</ul>`;
}

/** None is checked before: leaving it out needs no click. */
export function optionalScopeList(scopes: readonly ShownScope[], texts: PageTexts): Html {
  const items = scopes.map((scope) => {
    const { lang, title, description } = wordsOf(scope, texts);
    return html`
<li><label><input type="checkbox" name="optional_scope" value="${scope.scope}"><span><span class="name"${lang}>${title}</span>${
      description === null ? null : html`<span class="quiet"${lang}>${description}</span>`
    }${
      scope.sensitive
        ? html`<span class="notice caution">${texts.of('consent.optional.sensitive')}</span>`
        : null
    }</span></label></li>`;
  });
  return html`<ul class="optional">${items}</ul>`;
}

/** A page in two languages is enough: its own, and that of the plain text. */
function wordsOf(scope: ShownScope, { wanted, language }: LanguageChoice) {
  const own = tagIn(scope.texts, wanted) ?? tagIn(scope.texts, language);
  const { title, description = null } = (own === undefined ? undefined : scope.texts[own]) ?? scope;
  return {
    lang: own === undefined ? null : html` lang="${own}"`,
    title: outside(title),
    description: description === null ? null : outside(description),
  };
}

function tagIn(texts: ShownScope['texts'], wanted: string): string | undefined {
  return Object.keys(texts).find((tag) => tag.toLowerCase() === wanted.toLowerCase());
}
