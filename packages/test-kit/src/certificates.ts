import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A certificate authority for one test. */
export interface Authority {
  /** The file of its certificate. */
  file: string;
  /** A file with its key, too. */
  both: string;
  /**
   * Makes a file with a key and a certificate for it, which is valid for 127.0.0.1 or for `names`.
   *
   * @param days - until it expires; -1 makes one that has. Default: 30
   */
  issue(subject: string, names?: string, days?: number): Promise<string>;
}

const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export async function createAuthority(folder: string, name: string): Promise<Authority> {
  const path = (file: string) => join(folder, `${name}-${file}`);
  const file = path('ca.pem');
  const caKey = path('ca.key');
  await openssl('req', '-x509', ...key, '-subj', `/CN=${name}`, '-keyout', caKey, '-out', file);
  const both = path('both.pem');
  await writeFile(both, Buffer.concat([await readFile(file), await readFile(caKey)]), {
    mode: 0o600,
  });
  let issued = 0;

  return {
    file,
    both,
    async issue(subject, names = 'IP:127.0.0.1', days = 30) {
      const one = (kind: string) => path(`${++issued}.${kind}`);
      const [keyFile, request, certificate, all] = [one('key'), one('csr'), one('crt'), one('pem')];
      await openssl(
        ...['req', '-new', ...key, '-subj', subject, '-addext', `subjectAltName=${names}`],
        ...['-keyout', keyFile, '-out', request],
      );
      await openssl(
        ...['x509', '-req', '-in', request, '-CA', file, '-CAkey', caKey, '-CAcreateserial'],
        ...['-copy_extensions', 'copy', '-days', `${days}`, '-out', certificate],
      );
      const parts = [await readFile(certificate), await readFile(keyFile)];
      await writeFile(all, Buffer.concat(parts));
      await chmod(all, 0o600);
      return all;
    },
  };
}

async function openssl(...words: string[]): Promise<void> {
  await promisify(execFile)('openssl', words);
}
