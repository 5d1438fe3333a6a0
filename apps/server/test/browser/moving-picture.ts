import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { credentialPattern } from '@latchkey/schema';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

/** Pictures of a page, one after the other, in one WebP. Playwright's own videos need a download. */
export class MovingPicture {
  readonly #page: Page;
  readonly #folder: string;
  readonly #words: string[] = [];

  static async create(page: Page): Promise<MovingPicture> {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-picture-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    return new MovingPicture(page, folder);
  }

  private constructor(page: Page, folder: string) {
    this.#page = page;
    this.#folder = folder;
  }

  /** @param duration - how long it shows the page as it is now, in milliseconds */
  async add(duration: number): Promise<void> {
    expect(await this.#page.locator('body').textContent()).not.toMatch(credentialPattern);
    const path = join(this.#folder, `${this.#words.length}.png`);
    await this.#page.screenshot({ path, animations: 'disabled' });
    this.#words.push('-d', `${duration}`, path);
  }

  async write(path: string): Promise<void> {
    const words = ['-loop', '0', '-min_size', '-lossy', '-q', '80', '-m', '6'];
    try {
      await promisify(execFile)('img2webp', [...words, ...this.#words, '-o', path]);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new Error('There is no img2webp: it is in the package webp of Debian and Ubuntu.');
    }
  }
}
