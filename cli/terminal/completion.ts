// Makes completions for shells from the usage texts of the commands.

/** A command as its usage text describes it. */
interface CompletedCommand {
  readonly name: string
  readonly summary: string
  readonly options: readonly string[]
  readonly verbs: readonly string[]
}

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/**
 * @param usage the whole text: options are its words with two dashes, verbs the words after the
 * name
 */
export function completedOf(name: string, summary: string, usage: string): CompletedCommand {
  const options = new Set(['--help', ...[...usage.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].flat()])
  const call = new RegExp(`^(?:Usage:)? +gslbd ${name} ([a-z][a-z-]+)(?=[ \\n]|$)`, 'gm')
  const verbs = [...usage.matchAll(call)].map(([, verb = '']) => verb)
  return { name, summary, options: [...options].toSorted(), verbs: [...new Set(verbs)] }
}

export const completions: Readonly<
  Record<Shell, (commands: readonly CompletedCommand[]) => string>
> = { bash, zsh, fish }

function bash(commands: readonly CompletedCommand[]): string {
  const rows = commands.map(
    ({ name, options, verbs }) =>
      `    ${name}) words='${options.join(' ')}'; verbs='${verbs.join(' ')}' ;;`,
  )
  return `# Completion of gslbd for bash.
_gslbd() {
  local current=\${COMP_WORDS[COMP_CWORD]} words='' verbs=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='help version ${commands.map(({ name }) => name).join(' ')}'
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    return
  fi
  case \${COMP_WORDS[1]} in
${rows.join('\n')}
  esac
  case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    *)
      if [ "$COMP_CWORD" -eq 2 ] && [ -n "$verbs" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$current")
      fi
      ;;
  esac
}
complete -o default -F _gslbd gslbd
`
}

function zsh(commands: readonly CompletedCommand[]): string {
  const described = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`)
  const rows = commands.map(({ name, options, verbs }) => {
    const words = [...verbs, ...options].map(quoted).join(' ')
    return `    ${name}) compadd -- ${words}; _files ;;`
  })
  return `#compdef gslbd
# Completion of gslbd for zsh.
_gslbd() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
${rows.join('\n')}
  esac
}
compdef _gslbd gslbd
`
}

function fish(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ name, summary, options, verbs }) => [
    `complete -c gslbd -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ...options.map(
      (option) =>
        `complete -c gslbd -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`,
    ),
    ...verbs.map((verb) => `complete -c gslbd -n '__fish_seen_subcommand_from ${name}' -a ${verb}`),
  ])
  return `# Completion of gslbd for fish.\n${lines.join('\n')}\n`
}

/** In all three shells, only the quote has a meaning between single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`
}
