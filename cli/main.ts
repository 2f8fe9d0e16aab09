// Starts the program: holds the table of commands, and runs the one that argv names. Adding one
// means a file in commands/, a line here, and its cases.
import { systemClock } from '#lib/clock.ts'
import { didYouMean } from '#lib/suggest.ts'
import { systemAfter } from '#lib/timer.ts'
import { version } from '#lib/version.ts'
import { Exit, runCommand, UsageError } from '#system/process/command.ts'
import type { CommandEntry, Io } from '#system/process/command.ts'
import { endNow } from '#process/end-now.ts'
import { endAtSignals } from '#process/first-process.ts'
import { openOutlet } from './terminal/outlet.ts'
import { openProgress } from '#system/process/progress.ts'

/** A heading of `gslbd help` and the man page, with its commands. */
export interface CommandGroup {
  readonly title: string
  readonly commands: Readonly<Record<string, CommandEntry>>
}

export const commandGroups: readonly CommandGroup[] = Object.freeze([
  {
    title: 'Run a node',
    commands: {
      start: {
        summary: 'try it: a node with an example, on this machine only',
        load: async () => (await import('./commands/start.ts')).start,
      },
      serve: {
        summary: 'run a node',
        load: async () => (await import('./commands/serve.ts')).serve,
      },
      agent: {
        summary: 'run a node that only probes',
        load: async () => (await import('./commands/agent.ts')).agent,
      },
      'check-settings': {
        summary: 'check gslbd.yaml before a node is started with it',
        load: async () => (await import('./commands/check-settings.ts')).checkSettings,
      },
      doctor: {
        summary: 'look for what keeps a node from working here, and say what to do',
        load: async () => (await import('./commands/doctor.ts')).doctor,
      },
    },
  },
  {
    title: 'Write a configuration',
    commands: {
      check: {
        summary: 'check a configuration directory',
        load: async () => (await import('./commands/check.ts')).check,
      },
      test: {
        summary: 'ask the policy tests of a configuration directory',
        load: async () => (await import('./commands/test.ts')).test,
      },
      explain: {
        summary: 'explain a diagnostic, or the reason for which a commit is held',
        load: async () => (await import('./commands/explain.ts')).explain,
      },
      lint: {
        summary: 'say what no query has used, and which TTLs do not fit',
        load: async () => (await import('./commands/lint.ts')).lint,
      },
      compile: {
        summary: 'compile a configuration directory into a bundle',
        load: async () => (await import('./commands/compile.ts')).compile,
      },
      bundle: {
        summary: 'inspect, verify or dump a bundle file',
        load: async () => (await import('./commands/bundle.ts')).bundle,
      },
    },
  },
  {
    title: 'Review a change',
    commands: {
      plan: {
        summary: 'say which clients get another answer after a change',
        load: async () => (await import('./commands/plan.ts')).planCommand,
      },
      review: {
        summary: 'check and plan a change for its reviewers',
        load: async () => (await import('./commands/review.ts')).review,
      },
      comment: {
        summary: 'post a review as a comment and a status',
        load: async () => (await import('./commands/comment.ts')).comment,
      },
      verify: {
        summary: 'check the signatures of the commits of a change',
        load: async () => (await import('./commands/verify.ts')).verify,
      },
      attest: {
        summary: 'vouch for commits that are not signed by their author',
        load: async () => (await import('./commands/attest.ts')).attest,
      },
      hook: {
        summary: 'judge a push before git takes it (run by git)',
        load: async () => (await import('./commands/hook.ts')).hook,
      },
    },
  },
  {
    title: 'Look and ask',
    commands: {
      status: {
        summary: 'show health, commits, bundle and nodes, as a node sees them',
        load: async () => (await import('./commands/status.ts')).status,
      },
      top: {
        summary: 'show what a node answers now, again and again',
        load: async () => (await import('./commands/top.ts')).top,
      },
      simulate: {
        summary: 'say what would be answered, and why',
        load: async () => (await import('./commands/simulate.ts')).simulateCommand,
      },
      why: {
        summary: 'say what was answered at an instant of the past, and why; replay a query log',
        load: async () => (await import('./commands/why.ts')).why,
      },
      'query-log': {
        summary: 'print the queries that a node has logged',
        load: async () => (await import('./commands/query-log.ts')).queryLogCommand,
      },
    },
  },
  {
    title: 'Bring a change to the nodes',
    commands: {
      sync: {
        summary: 'have a node look at its branch now, and print its verdict',
        load: async () => (await import('./commands/sync.ts')).sync,
      },
      delivery: {
        summary: 'show how far a change has come in the fleet; pause, promote or abort it',
        load: async () => (await import('./commands/delivery.ts')).delivery,
      },
      node: {
        summary: 'list the nodes that pull, and make their credentials',
        load: async () => (await import('./commands/node.ts')).node,
      },
      publish: {
        summary: 'write the bundle for a web server, from which nodes pull it',
        load: async () => (await import('./commands/publish.ts')).publish,
      },
      redirects: {
        summary: 'compare the servers that get redirects with the configuration',
        load: async () => (await import('./commands/redirects.ts')).redirectsCommand,
      },
      anycast: {
        summary: 'ask for the announced routes of a node, or withdraw them',
        load: async () => (await import('./commands/anycast.ts')).anycast,
      },
      dnssec: {
        summary:
          'make, import or roll keys of signed zones, print their DS records and what they wait for',
        load: async () => (await import('./commands/dnssec.ts')).dnssec,
      },
    },
  },
  {
    title: 'Move here',
    commands: {
      import: {
        summary: 'turn a zone of another server into configuration',
        load: async () => (await import('./commands/import.ts')).importCommand,
      },
      export: {
        summary: 'print a zone, or the response rules, as a zone file',
        load: async () => (await import('./commands/export.ts')).exportCommand,
      },
    },
  },
  {
    title: 'Keys, certificates and licences',
    commands: {
      keygen: {
        summary: 'make a key for signing configuration commits',
        load: async () => (await import('./commands/keygen.ts')).keygen,
      },
      acme: {
        summary: 'show the certificates of the ACME server, and how the next ones do',
        load: async () => (await import('./commands/acme.ts')).acme,
      },
      push: {
        summary: 'show and apply pushes of zones to other servers',
        load: async () => (await import('./commands/push.ts')).push,
      },
      trust: {
        summary: 'list or extend the keys whose commits are accepted',
        load: async () => (await import('./commands/trust.ts')).trust,
      },
      license: {
        summary: "make a vendor's key, issue a licence with it, show one",
        load: async () => (await import('./commands/license.ts')).license,
      },
    },
  },
  {
    title: 'Keep and bring back',
    commands: {
      backup: {
        summary: 'write all that a control node is made of to one file',
        load: async () => (await import('./commands/backup.ts')).backup,
      },
      restore: {
        summary: 'bring a node back from a backup',
        load: async () => (await import('./commands/restore.ts')).restore,
      },
    },
  },
  {
    title: 'In a shell',
    commands: {
      completion: {
        summary: 'print the completion for bash, zsh or fish',
        load: async () => (await import('./commands/completion.ts')).completionOf(commands),
      },
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
    io.out(overview())
    return Exit.Ok
  }
  if (name === '--version' || name === 'version' || name === '-V') {
    io.out(`gslbd ${version}\n`)
    return Exit.Ok
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (entry === undefined) {
    const hint = didYouMean(name, Object.keys(commands))
    io.err(`gslbd: there is no command "${name}"${hint}\nRun "gslbd help" for the list.\n`)
    return Exit.Usage
  }
  const command = await entry.load()
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

function overview(): string {
  const lines = ['gslbd: authoritative DNS with global server load balancing', '']
  for (const group of commandGroups) {
    lines.push(`${group.title}:`)
    for (const [name, { summary }] of Object.entries(group.commands)) {
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
