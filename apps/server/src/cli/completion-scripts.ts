import type { Command } from 'commander';
import { allCommands, pathOf } from './command-tree.ts';

// The scripts contain the commands, so that completing starts no program. If nothing matches, as
// after an option that takes a file, the shell completes files.

interface Offer {
  path: string;
  words: { word: string; description: string }[];
}

function offersOf(program: Command): Offer[] {
  return allCommands(program).map((command) => ({
    path: pathOf(command),
    words: [
      ...command.commands.map((each) => ({ word: each.name(), description: each.description() })),
      ...[...command.options.filter(({ hidden }) => !hidden), HELP].flatMap(
        ({ short, long, description }) =>
          [short, long].flatMap((word) => (word?.startsWith('--') ? [{ word, description }] : [])),
      ),
    ],
  }));
}

const HELP = { short: '-h', long: '--help', description: 'display help for command' };

const pathsBelow = (offers: readonly Offer[]) =>
  offers
    .slice(1)
    .map(({ path }) => `'${path}'`)
    .join('|');

function bashScript(program: Command): string {
  const offers = offersOf(program);
  const cases = offers.map(
    ({ path, words }) => `    '${path}') words='${words.map(({ word }) => word).join(' ')}' ;;`,
  );
  return `# bash completion for latchkey
_latchkey() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path=latchkey words= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
      ${pathsBelow(offers)}) path="$path $word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _latchkey latchkey
`;
}

function zshScript(program: Command): string {
  const offers = offersOf(program);
  // `_describe` takes word:description.
  const quote = ({ word, description }: Offer['words'][number]) =>
    `'${word}:${description.replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`;
  const cases = offers.map(
    ({ path, words }) => `    '${path}') offers=(${words.map(quote).join(' ')}) ;;`,
  );
  return `#compdef latchkey
# zsh completion for latchkey
_latchkey() {
  local command_path=latchkey word
  local -a offers
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$command_path $word" in
      ${pathsBelow(offers)}) command_path="$command_path $word" ;;
    esac
  done
  case "$command_path" in
${cases.join('\n')}
  esac
  _describe latchkey offers || _files
}
if [ "$funcstack[1]" = _latchkey ]; then _latchkey "$@"; else compdef _latchkey latchkey; fi
`;
}

function fishScript(program: Command): string {
  const offers = offersOf(program);
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = offers.flatMap(({ path, words }) =>
    words.map(({ word, description }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c latchkey -n "__latchkey_at '${path}'" ${what} -d ${quote(description)}`;
    }),
  );
  return `# fish completion for latchkey
function __latchkey_at
  set -l path latchkey
  for word in (commandline -opc)[2..-1]
    switch "$path $word"
      case ${offers
        .slice(1)
        .map(({ path }) => `'${path}'`)
        .join(' ')}
        set path "$path $word"
    end
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}
`;
}

export const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
