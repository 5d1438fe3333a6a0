import { choiceOf } from '@latchkey/rules/linking/choice';
import type { ChoiceQuestion } from '@latchkey/store/records';
import { type Html, html } from '../../html.ts';
import { outside } from './outside.ts';

/** As many as can be seen at a glance. Of more, a list that folds leaves the rest of the page in view. */
const MOST_RADIOS = 7;

/** None is chosen before, but where there is only one: nobody allows more than they have read. */
export function choiceControl({ title, options }: ChoiceQuestion): Html {
  const choices = options.map(choiceOf);
  const question = outside(title);
  if (choices.length > MOST_RADIOS) {
    // No element can be in an option: `dir` isolates its text.
    const listed = choices.map(
      ({ id, label }) => html`\n<option value="${id}" dir="auto">${label}</option>`,
    );
    return html`<section>
<label class="question" for="choice">${question}</label>
<select id="choice" name="choice" required>
<option value=""></option>${listed}
</select>
</section>`;
  }
  const checked = choices.length === 1 ? html` checked` : null;
  const radios = choices.map(
    ({ id, label }) => html`
<label><input type="radio" name="choice" value="${id}" required${checked}><span class="name">${outside(label)}</span></label>`,
  );
  return html`<fieldset>
<legend class="question">${question}</legend>
<div class="optional">${radios}</div>
</fieldset>`;
}
