// `gslbd check`: reports every mistake of a configuration directory in one run.
import type { MovedBetween } from '#compiler/lower/name-outline.ts'
import type { CompileResult, CompilerParts, CompileSuccess } from '#compiler/compile.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { formats } from '#diagnostics/print/formats.ts'
import { summary } from '#diagnostics/print/text.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { didYouMean } from '#lib/suggest.ts'
import { checkPolicyOf, checkPolicyOptions, checkPolicyUsage } from '#settings/check-policy.ts'
import { policyTestsFor } from '#judge/policy-tests/load-tests.ts'
import { atMostOne, commandLine, Exit, needed, UsageError } from '#system/process/command.ts'
import type { Command, Io, ValuesOf } from '#system/process/command.ts'
import { KeptOutcome } from '#cli/files/kept-outcome.ts'
import type { Outcome } from '#cli/files/kept-outcome.ts'
import { readConfiguration } from '#gitops/checkout/config-directory.ts'

const usage = `Usage: gslbd check [PATH] [options]

Checks the configuration in the directory PATH (default: the current one), asks its policy tests,
and lists everything that is wrong.

  --format F          text (default), json, sarif (2.1.0) or github (annotations)
  --base REF          a commit of the checkout that PATH is in, such as origin/main: also says
                      whether a node that accepted it would hold the change by its guardrails
  --geoip FILE        the database (MMDB) of the nodes: also warns of regions that it does not have;
                      with --base it tells where clients are, for a limit on moved clients
  --asn FILE          with --base: likewise, a database of autonomous systems
  --allowed-signers FILE
                      with --base: the allowed_signers of the nodes; only the keys that may override
                      guardrails are believed that a change is meant (default: everybody is)
  --pools             also note names that have no answer when a whole pool is down
${checkPolicyUsage}

Exit codes: 0 nothing wrong, or only warnings; 1 errors; 2 wrong call, unreadable path, or
no commit in common with REF; 3 with --base, it changes more than the guardrails permit, and no
commit since REF says why.`

const options = {
  format: { type: 'string', default: 'text' },
  base: { type: 'string' },
  geoip: { type: 'string' },
  asn: { type: 'string' },
  'allowed-signers': { type: 'string' },
  pools: { type: 'boolean', default: false },
  ...checkPolicyOptions,
} as const

export const check: Command = {
  name: 'check',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    const path = atMostOne(positionals, 'give one directory') ?? '.'
    const print = formatNamed(values.format)
    const checkPolicy = checkPolicyOf(values)
    const { format, pools, geoip, base } = values
    // An outcome that depends on a database or a commit is not kept.
    const isKept = geoip === undefined && base === undefined
    const note = (line: string): void => io.err(`gslbd check: info: ${line}\n`)
    const memory = isKept ? new KeptOutcome(io.env, note) : undefined
    let known: Outcome | undefined
    const files = await readConfiguration(path, io.progress, (found) => {
      known = memory?.find(found, { format, pools, checkPolicy })
      return known !== undefined
    })
    const subdivisions = await subdivisionsOf(geoip)
    if (!files.ok || !subdivisions.ok) {
      for (const read of [files, subdivisions]) if (!read.ok) io.err(`gslbd check: ${read.error}\n`)
      return Exit.Usage
    }
    if (known !== undefined) {
      io.out(known.out)
      return known.exit
    }
    const result = await compiled(files.value, {
      ...{ checkPolicy, tell: io.progress ?? null, ...subdivisions.value },
      ...(pools && {
        observe: (await import('#compiler/rules/tree/redundancy.ts')).notePoolOutages,
      }),
    })
    const out = print(result) + (format === 'text' ? `${verdict(result)}\n` : '')
    io.out(out)
    const exit = result.ok ? Exit.Ok : Exit.ErrorsFound
    if (!result.dependsOnTime) await memory?.keep({ out, exit })
    return result.ok && base !== undefined ? compare(path, base, result, values, io) : exit
  },
}

async function compiled(
  files: readonly SourceFile[],
  parts: Partial<CompilerParts>,
): Promise<CompileResult> {
  const policyTests = await policyTestsFor(files)
  const { createCompiler } = await import('#compiler/compile.ts')
  const options = { commit: '', nowMs: systemClock.nowMs(), takesBytes: true }
  return createCompiler({ ...parts, policyTests }).compile(files, options)
}

async function compare(
  path: string,
  ref: string,
  after: CompileSuccess,
  values: ValuesOf<typeof options>,
  io: Io,
): Promise<Exit> {
  io.progress?.(`comparing with ${ref}`)
  // Loaded on demand: without a base, nothing reads Git.
  const base = await import('#cli/files/check-base.ts')
  const { createMovedBetween } = await import('#judge/effects/moved-between.ts')
  const { judgedWithout, missingDatabases } = await import('#judge/effects/unplaced.ts')
  const allowedSigners = values['allowed-signers']
  const missing = new Set<string>()
  const between = createMovedBetween(values)
  const movedBetween: MovedBetween = (before, now) => {
    for (const option of missingDatabases([before, now], values)) missing.add(option)
    return between(before, now)
  }
  // Loaded on demand: without base and tests there is no answer path.
  const { createPolicyTests } = await import('#judge/policy-tests/run.ts')
  const compared = await base.compareWithBase(path, ref, after, {
    checkPolicy: checkPolicyOf(values),
    tell: io.progress ?? null,
    movedBetween,
    allowedSigners,
    policyTests: createPolicyTests(),
  })
  const { isHeld, sentence, hasUncommitted, unknown } = needed(compared, Exit.Usage)
  // Machine-readable output has no place for the text.
  const say = values.format === 'text' ? io.out : io.err
  if (sentence !== '') say(`${sentence}\n`)
  if (missing.size > 0) say(`${judgedWithout}give ${[...missing].join(' and ')}\n`)
  for (const one of unknown) say(`${one}\n`)
  if (hasUncommitted) say(`${allowedSigners === undefined ? base.judgedToo : base.notSignedYet}\n`)
  return isHeld ? Exit.Guardrail : Exit.Ok
}

/** Without a database the answer path is not loaded. */
async function subdivisionsOf(
  path: string | undefined,
): Promise<Result<Pick<Partial<CompilerParts>, 'subdivisions'>, string>> {
  if (path === undefined) return ok({})
  const { subdivisionsIn } = await import('#cli/files/geo-subdivisions.ts')
  const found = subdivisionsIn(path)
  return found.ok ? ok({ subdivisions: found.value }) : found
}

function formatNamed(name: string) {
  const print = Object.hasOwn(formats, name) ? formats[name] : undefined
  if (print !== undefined) return print
  throw new UsageError(`there is no format "${name}"${didYouMean(name, Object.keys(formats))}`)
}

function verdict(result: CompileResult): string {
  const found = summary(result)
  if (!result.ok) return `\n${found}`
  const { zones, pools, services, rrsets, responseRules } = result.model
  const records = rrsets.length === 0 ? '' : `, ${count(rrsets.length, 'record set')}`
  const rules =
    responseRules.length === 0 ? '' : `, ${count(responseRules.length, 'response rule')}`
  const counts =
    `${count(services.length, 'service')}, ${count(pools.length, 'pool')}, ` +
    `${count(zones.length, 'zone')}${records}${rules}`
  return found === '' ? `ok: ${counts}` : `\nok: ${counts}; ${found}`
}

function count(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? '' : 's'}`
}
