declare const PACKAGE_VERSION: string | undefined;

/** The version of this package, which the build puts in; `source` where nothing was built. */
export const version: string = typeof PACKAGE_VERSION === 'undefined' ? 'source' : PACKAGE_VERSION;
