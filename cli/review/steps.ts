// Runs the steps of a review, each a command of gslbd, and keeps its output.
import { judgedToo, notCompared, notSignedYet } from '#cli/files/check-base.ts'
import { judgedWithout } from '#judge/effects/unplaced.ts'
import { joinedClauses } from '#lib/clauses.ts'
import { Exit, runCommand } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'
import type { Plan } from '#judge/document/model.ts'
import {
  commitNamed,
  mergeBaseOf,
  openGitPlace,
  unrelatedReason,
} from '#gitops/checkout/git-tree.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { searchPath } from '#cli/files/search-path.ts'

interface ReviewParts {
  readonly path: string
  readonly base: string
  /** undefined: signatures are not verified. */
  readonly allowedSigners: string | undefined
  /** Options for `check` and `plan`, such as `--geoip FILE`. */
  readonly databases: readonly string[]
  readonly io: Pick<Io, 'env' | 'progress'>
}

interface ReviewCommands {
  readonly verify: Command
  readonly check: Command
  readonly plan: Command
}

export interface StepResult {
  readonly name: 'Base' | 'Signatures' | 'Check and policy tests' | 'Guardrails' | 'Plan'
  readonly state: 'passed' | 'failed' | 'skipped'
  /** Result in one line. */
  readonly summary: string
  /** Output of the command; '': there is no more to say. */
  readonly details: string
}

export interface Review {
  readonly steps: readonly StepResult[]
  /** Exit code of the worst step: 0, 1, 3 or 4; 2: it cannot be judged. */
  readonly exit: Exit
  /** null: one of the configurations has errors. */
  readonly plan: Plan | null
  /** The base as commands accept it; '': there is none. */
  readonly base: string
  /** SARIF 2.1.0 of the check. */
  readonly sarif: string
  /** The check for the log of a forge: annotations. */
  readonly annotations: string
}

interface Said {
  readonly exit: Exit
  readonly out: string
  readonly err: string
}

/** Beyond any repository; a comment shows much less. */
const detailsMax = 20_000

export async function reviewChange(
  parts: ReviewParts,
  { verify, check, plan: planCommand }: ReviewCommands,
): Promise<Review> {
  const { path, allowedSigners, databases } = parts
  const said = (command: Command, ...args: readonly string[]): Promise<Said> =>
    listenTo(command, args, parts.io)
  parts.io.progress?.(`looking for ${parts.base}`)
  const against = await reviewBase(path, parts.base)
  if (!against.ok) return await reviewAlone(path, against.error, check, said)
  const { ref: base, note } = against.value
  const signed =
    allowedSigners === undefined
      ? null
      : await said(verify, path, '--base', base, '--allowed-signers', allowedSigners)
  const believed = allowedSigners === undefined ? [] : ['--allowed-signers', allowedSigners]
  const checked = await said(check, path, '--base', base, ...believed, ...databases)
  const sarif = await said(check, path, '--format', 'sarif')
  const annotated = await said(check, path, '--format', 'github')
  const planned = await said(planCommand, path, '--base', base, ...databases, '--format', 'json')
  const plan =
    planned.out === '' ? null : namedPlan(JSON.parse(planned.out) as Plan, parts.base, note)
  const isBaseBroken = checked.out.includes(`\n${notCompared}`) && planned.exit === Exit.ErrorsFound
  // The check has reported moved clients, with the advice on overrides.
  const steps = [
    signatures(signed, checked),
    checkStep(checked),
    ...(isBaseBroken
      ? [brokenBase('Guardrails', ''), brokenBase('Plan', planned.err)]
      : [guardrails(checked), planStep(planned, plan, checked.exit)]),
  ]
  const exitOfPlan = plan === null && !isBaseBroken ? planned.exit : Exit.Ok
  return {
    ...{ steps, plan, base, sarif: sarif.out, annotations: annotated.out },
    exit: worstOf([signed?.exit ?? Exit.Ok, checked.exit, exitOfPlan]),
  }
}

/** Without a base: checks the change by itself. */
async function reviewAlone(
  path: string,
  fault: string,
  check: Command,
  said: (command: Command, ...args: readonly string[]) => Promise<Said>,
): Promise<Review> {
  const checked = await said(check, path)
  const sarif = await said(check, path, '--format', 'sarif')
  const annotated = await said(check, path, '--format', 'github')
  const without = (name: StepResult['name']): StepResult => ({
    ...{ name, state: 'skipped', summary: 'there is no base', details: '' },
  })
  const steps: readonly StepResult[] = [
    { name: 'Base', state: 'failed', summary: fault, details: '' },
    ...[without('Signatures'), checkStep(checked), without('Guardrails'), without('Plan')],
  ]
  return {
    ...{ steps, plan: null, base: '', exit: Exit.Usage },
    ...{ sarif: sarif.out, annotations: annotated.out },
  }
}

async function listenTo(
  command: Command,
  args: readonly string[],
  { env, progress }: ReviewParts['io'],
): Promise<Said> {
  let [out, err] = ['', '']
  const exit = await runCommand(command, args, {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    env,
    isTerminal: false,
    ...(progress && {
      progress: (doing, ...count) => progress(`${command.name}: ${doing}`, ...count),
    }),
  })
  return { exit, out, err }
}

/** Nothing can be compared with a broken base, which a change may repair. */
function brokenBase(name: StepResult['name'], said: string): StepResult {
  const details = said.replace(/^gslbd plan: /, '').slice(0, detailsMax)
  return { name, state: 'skipped', summary: 'the base has errors', details }
}

function signatures(said: Said | null, checked: Said): StepResult {
  const name = 'Signatures'
  if (said === null) return { name, state: 'skipped', summary: 'not checked here', details: '' }
  const [line = ''] = (said.exit === Exit.Ok ? said.out : said.err).split('\n')
  const state = said.exit === Exit.Ok ? 'passed' : 'failed'
  const verdict = line.replace(/^(ok: |gslbd verify: )/, '')
  const isDirty = checked.out.includes(`\n${notSignedYet}\n`)
  const summary = joinedClauses(verdict, isDirty ? 'what is not committed has none yet' : '')
  return { name, state, summary, details: '' }
}

function checkStep({ exit, out, err }: Said): StepResult {
  const name = 'Check and policy tests'
  const lines = out.trimEnd().split('\n')
  const verdict = lines.findLast((line) => /^(ok: |\d+ error)/.test(line)) ?? lines.at(-1) ?? ''
  if (exit === Exit.Ok || exit === Exit.Guardrail) {
    const isDirty = [judgedToo, notSignedYet].some((words) => lines.includes(words))
    const found = verdict.replace(/^ok: /, '')
    const summary = joinedClauses(found, isDirty ? judgedToo : '')
    return { name, state: 'passed', summary, details: '' }
  }
  const details = `${out}${err}`.slice(0, detailsMax)
  return { name, state: 'failed', summary: verdict || 'cannot be read', details }
}

function guardrails({ exit, out, err }: Said): StepResult {
  const name = 'Guardrails'
  if (exit !== Exit.Ok && exit !== Exit.Guardrail) {
    return { name, state: 'skipped', summary: 'not judged: the check failed', details: err.trim() }
  }
  const sentence = out.split('\n').find((line) => /^(guardrail: |since |not compared)/.test(line))
  const summary = sentence?.replace(/^guardrail: /, '') ?? 'within the limits'
  const blind = out.split('\n').find((line) => line.startsWith(judgedWithout))
  return {
    ...{ name, state: exit === Exit.Ok ? 'passed' : 'failed', details: '' },
    summary: joinedClauses(summary, blind ?? ''),
  }
}

/** The path of the checkout means nothing to a reader. */
function namedPlan(plan: Plan, base: string, note: string): Plan {
  return {
    ...plan,
    base: { ...plan.base, source: base },
    head: { ...plan.head, source: 'this change' },
    warnings: [...plan.warnings, ...(note === '' ? [] : [note])],
  }
}

function planStep({ err }: Said, plan: Plan | null, checked: Exit): StepResult {
  const name = 'Plan'
  if (plan !== null) return { name, state: 'passed', summary: 'see below', details: '' }
  const [line = ''] = err.split('\n')
  const why = checked === Exit.ErrorsFound ? 'not made: the check failed' : line
  return { name, state: 'skipped', summary: why.replace(/^gslbd plan: /, ''), details: '' }
}

/** A failed signature precedes all: nothing else of such a change counts. */
function worstOf(exits: readonly Exit[]): Exit {
  const order = [Exit.Trust, Exit.Usage, Exit.Internal, Exit.ErrorsFound, Exit.Guardrail]
  return order.find((exit) => exits.includes(exit)) ?? Exit.Ok
}

interface ReviewBase {
  /** As commands accept it. */
  readonly ref: string
  /** A sentence for the reader; '': there is nothing to say. */
  readonly note: string
}

/**
 * Finds the base of a change: the commit where it left its target branch. That the branch has gone
 * on is no fault, since a merge keeps both. Errors: a sentence; also when there is no common
 * commit.
 */
async function reviewBase(path: string, base: string): Promise<Result<ReviewBase, string>> {
  const place = openGitPlace(path, searchPath())
  if (!place.ok) return err(`--base needs a checkout of git: ${place.error}`)
  const commit = await commitNamed(place.value, base)
  if (!commit.ok) return err(`the base is not here: ${commit.error}`)
  const head = await commitNamed(place.value, 'HEAD')
  const shared = head.ok ? await mergeBaseOf(place.value, commit.value, head.value) : commit.value
  if (shared === commit.value) return ok({ ref: base, note: '' })
  if (shared !== undefined) {
    const note = `${base} has gone on since: the change is compared with where it left it`
    return ok({ ref: shared, note })
  }
  return err(unrelatedReason(place.value, base, 'HEAD'))
}
