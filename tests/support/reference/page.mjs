// A plugin of TypeDoc, for pages that read from top to bottom.

export function load(app) {
  // A class shows what it adds, and names the one that has the rest.
  app.converter.on('resolveBegin', ({ project }) => {
    for (const reflection of Object.values(project.reflections)) {
      if (reflection.inheritedFrom) project.removeReflection(reflection);
      else if (reflection.comment) listErrors(reflection.comment);
    }
  });
  // The client comes before its errors. What puts them in groups does it at the same event.
  const last = -1_000_000;
  const clientFirst = ({ project }) => {
    const groups = (project.children ?? []).flatMap((page) => page.groups ?? []);
    for (const { children } of groups) {
      children.sort((a, b) => (b.name === 'Latchkey') - (a.name === 'Latchkey'));
    }
  };
  app.converter.on('resolveEnd', clientFirst, last);
}

/** Makes one list of the errors, where there would be a heading for each. */
function listErrors(comment) {
  const errors = comment.blockTags.filter(({ tag }) => tag === '@throws');
  const [first, ...others] = errors;
  if (first === undefined) return;
  first.content = errors.flatMap(({ content }) => [{ kind: 'text', text: '\n- ' }, ...content]);
  comment.blockTags = comment.blockTags.filter((tag) => !others.includes(tag));
}
