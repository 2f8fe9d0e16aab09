// `gslbd redirects diff`: shows what would change on other servers that get redirects.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { redirectsOf } from '#bundle/format/bundle.ts'
import { loadBundle } from '#bundle/load/load.ts'
import type { RedirectModel } from '#bundle/redirects/redirect-table.ts'
import { createCompiler } from '#compiler/compile.ts'
import { printErrors } from '#diagnostics/print/text.ts'
import { pushedOf } from '#integrations/redirects/rule.ts'
import type { Plan, RedirectTarget } from '#integrations/redirects/target.ts'
import type { PushedRedirect } from '#integrations/redirects/rule.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { namedBy } from '#server/node/refusals.ts'
import { readConfiguration } from '#gitops/checkout/config-directory.ts'
import { redirectTargets } from '#node/compose/redirect-targets.ts'
import { settingsFor } from '#cli/files/settings-file.ts'
import { CommandFault, commandLine, Exit, needed, UsageError } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'

const usage = `Usage: gslbd redirects diff --settings FILE [PATH]

Asks each server that gets redirects by the settings in FILE what it has, and lists what a node
would create, update and delete there. Nothing is changed. Redirects are those of the configuration
in the directory PATH; without it, those of the bundle that the node has activated last.

Exit codes: 0 they are as they should be; 1 something differs, or a server cannot be asked;
2 wrong call.`

const roundMs = 120_000
const signs = { create: '+', update: '~', delete: '-' } as const

export const redirectsCommand: Command = {
  name: 'redirects',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, { settings: { type: 'string' } })
    const [verb, path, ...rest] = positionals
    if (verb !== 'diff' || rest.length > 0) throw new UsageError('write: gslbd redirects diff')
    if (values.settings === undefined) throw new UsageError('name the settings: --settings FILE')
    const { redirect, dataDir } = settingsFor(io, values.settings)
    const targets = redirectTargets(redirect)
    if (targets.length === 0) {
      io.out('no server gets redirects by these settings\n')
      return Exit.Ok
    }
    const wanted = pushedOf(path === undefined ? stored(dataDir) : await compiled(path))
    let differs = false
    for (const target of targets) differs = (await show(target, wanted, io)) || differs
    return differs ? Exit.ErrorsFound : Exit.Ok
  },
}

/** @returns true when it differs, or that is unknown */
async function show(
  target: RedirectTarget,
  wanted: readonly PushedRedirect[],
  io: Io,
): Promise<boolean> {
  const plan = await target.look(wanted, AbortSignal.timeout(roundMs))
  if (!plan.ok) {
    io.err(`${target.name}: ${plan.error}\n`)
    return true
  }
  io.out(textOf(target.name, wanted.length, plan.value))
  return plan.value.changes.length > 0
}

function textOf(name: string, count: number, { changes, skipped }: Plan): string {
  const lines = [
    ...changes.map(({ verb, mark, what }) => `${signs[verb]} ${mark} ${what}`.trimEnd()),
    ...skipped.map(({ mark, reason }) => `! ${mark}: ${reason}`),
  ]
  const sum = changes.length === 0 ? 'nothing to change' : `${changes.length} to change`
  return [`${name}: ${count} redirects, ${sum}`, ...lines.map((line) => `  ${line}`), ''].join('\n')
}

/** The signature was verified when the bundle was stored. */
function stored(dataDir: string): readonly RedirectModel[] {
  // Checked first, since a store creates missing directories.
  const store = existsSync(join(dataDir, 'node')) ? new BundleStore(dataDir) : undefined
  const { digest } = namedBy(store?.record('active'))
  if (store === undefined || digest === '') {
    const why = `${dataDir} has no bundle yet; name a directory: PATH`
    throw new CommandFault(Exit.ErrorsFound, why)
  }
  return redirectsOf(needed(loadBundle(needed(store.bundle(digest)))))
}

async function compiled(path: string): Promise<readonly RedirectModel[]> {
  const files = needed(await readConfiguration(path))
  const result = createCompiler().compile(files, { commit: '' })
  if (!result.ok) throw new CommandFault(Exit.ErrorsFound, printErrors(result))
  return result.model.redirects
}
