/** The name of a package in the name of its tarball, as npm makes it. */
export const fileNameOf = (name: string) => name.replace('@', '').replace('/', '-');
