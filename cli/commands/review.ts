// `gslbd review`: works out everything that a reviewer wants to know, and writes it to files for a
// forge.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderFault } from '#gitops/checkout/config-directory.ts'
import { makeOutputFolder } from '#cli/files/output-folder.ts'
import { commentBody, verdictOf } from '#cli/review/comment-body.ts'
import { reviewChange } from '#cli/review/steps.ts'
import type { Review, StepResult } from '#cli/review/steps.ts'
import { check } from './check.ts'
import { planCommand } from './plan.ts'
import { verify } from './verify.ts'
import { atMostOne, CommandFault, commandLine, Exit, UsageError } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'
import { shellWord } from '#lib/text/shell-word.ts'
import { printPlanHtml } from '#judge/print/html.ts'
import { verdict } from '#judge/print/phrases.ts'

const usage = `Usage: gslbd review [PATH] --base BASE [--out DIR] [options]

Checks a change as a node would before it accepts it: signatures, errors, policy tests, guardrails;
and plans which clients move. For pull requests, in any CI and by hand.

  --base BASE             where the change is to go, such as origin/main
  --out DIR               also writes there: comment.md, plan.html, plan.json, gslbd.sarif and
                          verdict.json
  --allowed-signers FILE  the allowed_signers of the nodes; without it signatures are not checked
  --geoip FILE, --asn FILE
                          databases (MMDB) that tell where clients are
  --format F              text (default), or github: annotations of lines, for its log

Exit codes: 0 a node would accept it; 1 errors; 2 wrong call; 3 beyond a guardrail; 4 signatures.`

export const review: Command = {
  name: 'review',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, {
      base: { type: 'string' },
      out: { type: 'string' },
      'allowed-signers': { type: 'string' },
      geoip: { type: 'string' },
      asn: { type: 'string' },
      format: { type: 'string', default: 'text' },
    })
    const path = atMostOne(positionals, 'give one directory') ?? '.'
    if (values.base === undefined) throw new UsageError('give --base: where the change is to go')
    if (!['text', 'github'].includes(values.format))
      throw new UsageError('--format is text or github')
    const fault =
      folderFault(path) ?? (values.out === undefined ? undefined : outputFault(values.out))
    if (fault !== undefined) throw new CommandFault(Exit.Usage, fault)
    const databases = [
      ...(values.geoip === undefined ? [] : ['--geoip', values.geoip]),
      ...(values.asn === undefined ? [] : ['--asn', values.asn]),
    ]
    const allowedSigners = values['allowed-signers']
    if (allowedSigners !== undefined && !existsSync(allowedSigners))
      throw new UsageError(`--allowed-signers: there is no file ${allowedSigners}`)
    const parts = { path, base: values.base, allowedSigners, databases, io }
    const found = await reviewChange(parts, { verify, check, plan: planCommand })
    if (values.out !== undefined) writeFiles(values.out, found)
    if (values.format === 'github') io.out(found.annotations)
    for (const step of found.steps) {
      const { name, state, details } = step
      const summary =
        name === 'Plan'
          ? reviewSummary(found, step, { path, databases, out: values.out })
          : step.summary
      io.out(`${name}: ${state}: ${summary}\n${values.format === 'text' ? details : ''}`)
    }
    io.out(`${verdictOf(found)}\n`)
    return found.exit
  },
}

interface PlanPlace {
  readonly path: string
  readonly databases: readonly string[]
  readonly out?: string | undefined
}

/** A comment shows the plan below its table, so only the result and the place are named here. */
function reviewSummary(
  { plan, base }: Review,
  { summary }: StepResult,
  { path, databases, out }: PlanPlace,
): string {
  if (plan === null) return summary
  const command = ['gslbd', 'plan', path, '--base', base, ...databases].map(shellWord).join(' ')
  const where = out === undefined ? command : join(out, 'plan.html')
  return `${verdict(plan)} (in full: ${where})`
}

const fileNames = ['comment.md', 'gslbd.sarif', 'verdict.json', 'plan.html', 'plan.json'] as const

/**
 * Removes the files of the last review, which might be taken for this one.
 *
 * @returns why nothing can be written there, in a sentence; undefined: it can
 */
function outputFault(folder: string): string | undefined {
  const fault = makeOutputFolder(folder)
  if (fault !== undefined) return `--out: ${fault}`
  try {
    for (const name of fileNames) {
      writeFileSync(join(folder, name), '')
      rmSync(join(folder, name))
    }
    return undefined
  } catch (error) {
    return `--out: ${folder} cannot be written to: ${(error as Error).message}`
  }
}

function writeFiles(folder: string, found: Review): void {
  const { exit, plan, sarif } = found
  const state = exit === Exit.Ok ? 'success' : 'failure'
  const files: Readonly<Partial<Record<(typeof fileNames)[number], string>>> = {
    'comment.md': commentBody(found),
    'gslbd.sarif': sarif,
    'verdict.json': `${JSON.stringify({ state, exit, verdict: verdictOf(found) })}\n`,
    ...(plan === null
      ? {}
      : { 'plan.html': printPlanHtml(plan), 'plan.json': `${JSON.stringify(plan, null, 2)}\n` }),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
}
