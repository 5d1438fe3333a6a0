import type { Milliseconds } from '@latchkey/domain/clock';
import type { Step } from '@latchkey/store/step';
import type { Output, Terminal } from './terminal.ts';

/** So a command that is quick, or prints all the time, shows no progress. */
const SHOWN_AFTER: Milliseconds = 1_000;
const DRAWN_EVERY: Milliseconds = 200;
const BAR_WIDTH = 30;

export interface Progress {
  /** For the command. What it prints replaces the line of the progress. */
  terminal: Terminal;
  /** @param name - what the line says as long as the command shows no step */
  begin(name: string): void;
  draw(): void;
  end(): void;
}

/** A line on a terminal, below what was printed, that says what takes so long. */
export function createProgress(given: Terminal, now = () => performance.now()): Progress {
  const { stderr } = given;
  let name = '';
  let step: Step | null = null;
  let began = now();
  let quietSince = began;
  let isDrawn = false;
  let drawing: NodeJS.Timeout | undefined;

  function erase(): void {
    quietSince = now();
    if (isDrawn) stderr.write(CLEARED);
    isDrawn = false;
  }

  function draw(): void {
    if (step === null || now() - quietSince < SHOWN_AFTER) return;
    isDrawn = true;
    const line = lineOf(step, Math.floor((now() - began) / 1000));
    // A line that wraps could not be erased.
    stderr.write(`${CLEARED}${line.slice(0, (stderr.columns ?? 80) - 1)}`);
  }

  function show(next: Step | null = { text: name }): void {
    if (drawing === undefined) return;
    if (next === null) erase();
    step = next;
    began = now();
  }

  const terminal: Terminal = Object.create(given, {
    stdout: { value: erasing(given.stdout, erase) },
    stderr: { value: erasing(stderr, erase) },
    showStep: { value: show },
  });
  return {
    terminal,
    begin(command) {
      name = command;
      drawing = setInterval(draw, DRAWN_EVERY).unref();
      show();
    },
    draw,
    end() {
      clearInterval(drawing);
      step = null;
      erase();
    },
  };
}

const CLEARED = '\r\u001b[K';

function lineOf({ text, share }: Step, seconds: number): string {
  const line = `${text}, ${seconds} s`;
  if (share === undefined) return line;
  // Of nothing, it is not a number.
  const done = Math.min(1, share()) || 0;
  const bar = '#'.repeat(Math.floor(done * BAR_WIDTH)).padEnd(BAR_WIDTH, '.');
  return `[${bar}] ${Math.floor(done * 100)} %, ${line}`;
}

function erasing<Stream extends Pick<Output, 'write'>>(stream: Stream, erase: () => void): Stream {
  return new Proxy(stream, {
    get(_, name) {
      const member = Reflect.get(stream, name);
      if (typeof member !== 'function') return member;
      return (...input: unknown[]) => {
        if (name === 'write') erase();
        return member.apply(stream, input);
      };
    },
  });
}
