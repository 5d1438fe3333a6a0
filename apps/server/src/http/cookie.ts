export function cookieValue(header: string, name: string): string | null {
  return pairs(header).find(([candidate]) => candidate === name)?.[1] ?? null;
}

export function cookieNames(header: string): string[] {
  return pairs(header).map(([name]) => name);
}

function pairs(header: string): [name: string, value: string][] {
  return header.split(';').flatMap((pair) => {
    const equals = pair.indexOf('=');
    return equals === -1 ? [] : [[pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()]];
  });
}
