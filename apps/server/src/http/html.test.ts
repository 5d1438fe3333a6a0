import { expect, test } from 'vitest';
import { html, replaceInText } from './html.ts';

test('a template escapes what it is given, but no markup', () => {
  const text = `<b title="x">&'`;
  expect(String(html`<p title="${text}">${text}</p>`)).toBe(
    `<p title="&lt;b title=&quot;x&quot;&gt;&amp;'">&lt;b title=&quot;x&quot;&gt;&amp;'</p>`,
  );
  expect(String(html`${html`<br>`}${null}${[1, html`<hr>`, '<']}`)).toBe('<br>1<hr>&lt;');
});

test('parts of a text become markup, and nothing else of it', () => {
  const code = replaceInText(
    'a < `b < c` > `d`',
    /`([^`]+)`/g,
    (part) => html`<code>${part}</code>`,
  );
  expect(String(code)).toBe('a &lt; <code>b &lt; c</code> &gt; <code>d</code>');
});
