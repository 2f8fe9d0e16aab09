// The table of commands. Adding one means one file in commands/, one line here, one set of cases.
import type { Command } from '#system/process/command.ts'

type Load = () => Promise<Command>

/** Under which heading `gslbd help` and the man page show commands. */
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
    title: 'Keys and licences',
    commands: {
      keygen: async () => (await import('./commands/keygen.ts')).keygen,
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
