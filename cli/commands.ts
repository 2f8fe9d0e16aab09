// The table of commands. Adding one means one file in commands/, one line here, one set of cases.
import type { Command } from './terminal/command.ts'

/** Loaded on demand: `gslbd check` must not load sockets. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = Object.freeze({
  start: async () => (await import('./commands/start.ts')).start,
  serve: async () => (await import('./commands/serve.ts')).serve,
  attest: async () => (await import('./commands/attest.ts')).attest,
  bundle: async () => (await import('./commands/bundle.ts')).bundle,
  check: async () => (await import('./commands/check.ts')).check,
  'check-settings': async () => (await import('./commands/check-settings.ts')).checkSettings,
  compile: async () => (await import('./commands/compile.ts')).compile,
  completion: async () => (await import('./commands/completion.ts')).completionOf(commands),
  delivery: async () => (await import('./commands/delivery.ts')).delivery,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  explain: async () => (await import('./commands/explain.ts')).explain,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  hook: async () => (await import('./commands/hook.ts')).hook,
  import: async () => (await import('./commands/import.ts')).importCommand,
  keygen: async () => (await import('./commands/keygen.ts')).keygen,
  license: async () => (await import('./commands/license.ts')).license,
  plan: async () => (await import('./commands/plan.ts')).planCommand,
  publish: async () => (await import('./commands/publish.ts')).publish,
  redirects: async () => (await import('./commands/redirects.ts')).redirectsCommand,
  restore: async () => (await import('./commands/restore.ts')).restore,
  simulate: async () => (await import('./commands/simulate.ts')).simulateCommand,
  status: async () => (await import('./commands/status.ts')).status,
  sync: async () => (await import('./commands/sync.ts')).sync,
  test: async () => (await import('./commands/test.ts')).test,
  top: async () => (await import('./commands/top.ts')).top,
  trust: async () => (await import('./commands/trust.ts')).trust,
})
