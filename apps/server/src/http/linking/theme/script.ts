/**
 * Against double clickjacking, against a second click while the first is under way, and against an answer by
 * mistake. Loaded before the body, so that no button precedes it.
 */
export const pageScript = `(() => {
  const REST = 600;
  let restsUntil = 0;
  let timer;

  const buttons = () => document.querySelectorAll('button');

  function rest() {
    restsUntil = performance.now() + REST;
  }

  // Disabled, so that assistive technology and tests see that they have to wait. Only when the page is
  // shown: disabled on every focus, a button would lose the focus of the keyboard.
  function disable() {
    for (const button of buttons()) button.disabled = true;
    clearTimeout(timer);
    timer = setTimeout(() => {
      for (const button of buttons()) button.disabled = false;
    }, REST);
  }

  function hideBrokenLogos() {
    for (const logo of document.querySelectorAll('.logo > img')) {
      const isBroken = logo.complete && logo.naturalWidth === 0;
      if (isBroken) logo.remove();
      else logo.addEventListener('error', () => logo.remove());
    }
  }

  let endBusy = () => {};

  function beginBusy(form, pressed) {
    const { busy } = form.dataset;
    const status = form.querySelector('[role=status]');
    const label = pressed.textContent;
    for (const button of buttons()) button.disabled = true;
    if (busy) {
      form.ariaBusy = 'true';
      pressed.textContent = status.textContent = busy;
    }
    endBusy = () => {
      form.ariaBusy = null;
      pressed.textContent = label;
      if (status) status.textContent = '';
    };
  }

  function show() {
    endBusy();
    rest();
    disable();
  }

  rest();
  addEventListener('focus', rest);
  document.addEventListener('visibilitychange', rest);
  document.addEventListener('DOMContentLoaded', () => {
    hideBrokenLogos();
    show();
  });
  // The browser brings the page back from its cache as it was left.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) show();
  });
  document.addEventListener('submit', ({ target: form, submitter }) => {
    // Only then is the value of the button in what is sent: that of a disabled one would be left out.
    form.addEventListener('formdata', () => beginBusy(form, submitter), { once: true });
  });
  // Enter in a checkbox, or on a Mac in a list, would press the first button: "use another account".
  document.addEventListener('keypress', (event) => {
    if (event.key === 'Enter' && event.target.matches('input, select')) event.preventDefault();
  });
  document.addEventListener(
    'click',
    (event) => {
      if (performance.now() >= restsUntil || !event.target.closest('button')) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );
})();
`;
