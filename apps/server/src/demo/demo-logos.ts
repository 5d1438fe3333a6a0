const logo = (shapes: string) => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48">${shapes}</svg>`;
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
};

export const demoLogos = {
  application: logo(
    '<circle cx="17" cy="24" r="13" fill="#7c3aed"/><circle cx="31" cy="24" r="13" fill="#f59e0b" fill-opacity=".9"/>',
  ),
  host: logo(
    '<path fill="#0b62d6" d="M24 5 44 22h-5v20H9V22H4z"/><path fill="#fff" d="M19 42V29h10v13z"/>',
  ),
};
