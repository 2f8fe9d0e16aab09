// Starts the program: holds the table of commands, and runs the one that argv names. Adding one
// means a file in commands/, a line here, and its cases.
import { systemClock } from '#lib/clock.ts'
import { didYouMean } from '#lib/suggest.ts'
import { systemAfter } from '#lib/timer.ts'
import { version } from '#lib/version.ts'
import { Exit, runCommand, UsageError } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'
import { endNow } from '#process/end-now.ts'
import { endAtSignals } from '#process/first-process.ts'
import { openOutlet } from './terminal/outlet.ts'
import { openProgress } from '#system/process/progress.ts'

type Load = () => Promise<Command>

/** A heading of `gslbd help` and the man page, with its commands. */
export interface CommandGroup {
  readonly title: string
  /** Loaded on demand: `gslbd check` must not load sockets. */
  readonly commands: Readonly<Record<string, Load>>
}

export const commandGroups: readonly CommandGroup[] = Object.freeze([
  {
    title: 'Run a node',
    commands: {
      start: async () => (await import('./commands/start.ts')).start,
      serve: async () => (await import('./commands/serve.ts')).serve,
      agent: async () => (await import('./commands/agent.ts')).agent,
      'check-settings': async () => (await import('./commands/check-settings.ts')).checkSettings,
      doctor: async () => (await import('./commands/doctor.ts')).doctor,
    },
  },
  {
    title: 'Write a configuration',
    commands: {
      check: async () => (await import('./commands/check.ts')).check,
      test: async () => (await import('./commands/test.ts')).test,
      explain: async () => (await import('./commands/explain.ts')).explain,
      lint: async () => (await import('./commands/lint.ts')).lint,
      compile: async () => (await import('./commands/compile.ts')).compile,
      bundle: async () => (await import('./commands/bundle.ts')).bundle,
    },
  },
  {
    title: 'Review a change',
    commands: {
      plan: async () => (await import('./commands/plan.ts')).planCommand,
      review: async () => (await import('./commands/review.ts')).review,
      comment: async () => (await import('./commands/comment.ts')).comment,
      verify: async () => (await import('./commands/verify.ts')).verify,
      attest: async () => (await import('./commands/attest.ts')).attest,
      hook: async () => (await import('./commands/hook.ts')).hook,
    },
  },
  {
    title: 'Look and ask',
    commands: {
      status: async () => (await import('./commands/status.ts')).status,
      top: async () => (await import('./commands/top.ts')).top,
      simulate: async () => (await import('./commands/simulate.ts')).simulateCommand,
      why: async () => (await import('./commands/why.ts')).why,
      'query-log': async () => (await import('./commands/query-log.ts')).queryLogCommand,
    },
  },
  {
    title: 'Bring a change to the nodes',
    commands: {
      sync: async () => (await import('./commands/sync.ts')).sync,
      delivery: async () => (await import('./commands/delivery.ts')).delivery,
      node: async () => (await import('./commands/node.ts')).node,
      publish: async () => (await import('./commands/publish.ts')).publish,
      redirects: async () => (await import('./commands/redirects.ts')).redirectsCommand,
      anycast: async () => (await import('./commands/anycast.ts')).anycast,
      dnssec: async () => (await import('./commands/dnssec.ts')).dnssec,
    },
  },
  {
    title: 'Move here',
    commands: {
      import: async () => (await import('./commands/import.ts')).importCommand,
      export: async () => (await import('./commands/export.ts')).exportCommand,
    },
  },
  {
    title: 'Keys, certificates and licences',
    commands: {
      keygen: async () => (await import('./commands/keygen.ts')).keygen,
      acme: async () => (await import('./commands/acme.ts')).acme,
      push: async () => (await import('./commands/push.ts')).push,
      trust: async () => (await import('./commands/trust.ts')).trust,
      license: async () => (await import('./commands/license.ts')).license,
    },
  },
  {
    title: 'Keep and bring back',
    commands: {
      backup: async () => (await import('./commands/backup.ts')).backup,
      restore: async () => (await import('./commands/restore.ts')).restore,
    },
  },
  {
    title: 'In a shell',
    commands: {
      completion: async () => (await import('./commands/completion.ts')).completionOf(commands),
    },
  },
])

export const commands: CommandGroup['commands'] = Object.freeze(
  Object.fromEntries(commandGroups.flatMap((group) => Object.entries(group.commands))),
)

/** Time for the output of a failed daemon to be read. */
const flushPatienceMs = 1_000

export async function main(argv: readonly string[], io: Io): Promise<Exit> {
  const [name = 'help', ...words] = asAsked(argv)
  const args = withNegativeNumbers(words)
  if (name === 'help' || name === '--help' || name === '-h') {
    io.out(await overview())
    return Exit.Ok
  }
  if (name === '--version' || name === 'version' || name === '-V') {
    io.out(`gslbd ${version}\n`)
    return Exit.Ok
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (load === undefined) {
    const hint = didYouMean(name, Object.keys(commands))
    io.err(`gslbd: there is no command "${name}"${hint}\nRun "gslbd help" for the list.\n`)
    return Exit.Usage
  }
  const command = await load()
  if (args.includes('--help') || args.includes('-h')) {
    io.out(`${command.usage}\n`)
    return Exit.Ok
  }
  try {
    return await runCommand(command, args, io)
  } catch (error) {
    if (!isUsageError(error)) throw error
    io.err(`gslbd ${name}: ${usageSentence(error)}\nRun "gslbd ${name} --help" for its usage.\n`)
    return Exit.Usage
  }
}

/** Treats `help serve` as `serve --help`. */
function asAsked(argv: readonly string[]): readonly string[] {
  const [first, name] = argv
  return first === 'help' && name !== undefined && !name.startsWith('-') ? [name, '--help'] : argv
}

/** Treats `--count -5` as `--count=-5`, so that the command can name the bounds. */
function withNegativeNumbers(words: readonly string[]): string[] {
  const args: string[] = []
  for (const word of words) {
    const last = args.at(-1)
    if (/^-\d/.test(word) && last !== undefined && /^--[a-z-]+$/.test(last))
      args[args.length - 1] = `${last}=${word}`
    else args.push(word)
  }
  return args
}

/** UsageError, and errors of `parseArgs` from node:util. */
function isUsageError(error: unknown): error is Error {
  if (error instanceof UsageError) return true
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return code?.startsWith('ERR_PARSE_ARGS_') === true
}

/** The first sentence names the fault; the rest of Node's text is about quoting. */
function usageSentence({ message }: Error): string {
  const [line = ''] = message.split('\n', 1)
  return line.replace(/(?<=[^.]{10})\. (To specify|Did you forget|Option).*$/, '')
}

async function overview(): Promise<string> {
  const lines = ['gslbd: authoritative DNS with global server load balancing', '']
  for (const group of commandGroups) {
    lines.push(`${group.title}:`)
    for (const load of Object.values(group.commands)) {
      const { name, summary } = await load()
      lines.push(`  gslbd ${name.padEnd(14)} ${summary}`)
    }
    lines.push('')
  }
  lines.push('Run "gslbd help COMMAND" for the options of one command.', '')
  return lines.join('\n')
}

if (import.meta.main) await runAsProcess(process.argv.slice(2))

async function runAsProcess(argv: readonly string[]): Promise<void> {
  endAtSignals()
  const out = openOutlet(process.stdout)
  const errors = openOutlet(process.stderr)
  const progress = openProgress({
    ...{ write: errors.write, isTerminal: process.stderr.isTTY },
    ...{ clock: systemClock, after: systemAfter },
  })
  const io: Io = {
    out: (text) => {
      progress.clear()
      out.write(text)
    },
    err: (text) => {
      progress.clear()
      errors.write(text)
    },
    progress: progress.say,
    lostLines: out.takeLost,
    env: process.env,
    isTerminal: process.stdout.isTTY,
  }
  try {
    process.exitCode = await main(argv, io)
    progress.clear()
  } catch (error) {
    io.err(`gslbd: internal error: ${error instanceof Error ? error.stack : String(error)}\n`)
    process.exitCode = Exit.Internal
    // Otherwise started parts would go on as half a node.
    if (isDaemon(argv)) await exitWhenWritten(Exit.Internal)
  }
  process.once('beforeExit', () => {
    const fault = out.fault()
    // A daemon has done its work, even when its log was lost.
    if (fault === undefined || process.exitCode !== Exit.Ok || isDaemon(argv)) return
    io.err(`gslbd: the output cannot be written: ${fault.message}\n`)
    process.exitCode = Exit.ErrorsFound
  })
}

async function exitWhenWritten(exit: Exit): Promise<never> {
  const written = [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
  )
  setTimeout(() => endNow(exit), flushPatienceMs)
  await Promise.all(written)
  endNow(exit)
}

function isDaemon([name]: readonly string[]): boolean {
  return name === 'serve' || name === 'start'
}
