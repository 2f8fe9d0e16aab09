// `gslbd plan`: shows which clients get another answer after a change.
import { styleText } from 'node:util'
import { systemClock } from '#lib/clock.ts'
import { backClause } from '#gitops/guard/guardrail.ts'
import { movedBeyond } from '#judge/guard/moved-limit.ts'
import type { AssumedHealth } from '#routing/choose/explain.ts'
import { makePlan, planLimits } from '#judge/plan/plan.ts'
import type { PlanRequest } from '#judge/plan/plan.ts'
import type { Traffic } from '#judge/clients/traffic.ts'
import type { Plan } from '#judge/document/model.ts'
import type { Moment } from '#judge/sides/side.ts'
import { printPlanHtml } from '#judge/print/html.ts'
import { printPlanMarkdown } from '#judge/print/markdown.ts'
import { printPlan } from '#judge/print/text.ts'
import type { Style } from '#judge/print/text.ts'
import { goneBackTo } from '#cli/files/gone-back.ts'
import { createMovedBetween, MovedNames } from '#judge/effects/moved-between.ts'
import { healthAt, isRumUrl, isUrl, reportsAt, trafficAt } from '#cli/plan/node-facts.ts'
import { readTraffic } from '#judge/clients/traffic-file.ts'
import { createPolicyTests } from '#judge/policy-tests/run.ts'
import { findRevisions } from '#cli/plan/sources.ts'
import type { FoundSide } from '#cli/plan/sources.ts'
import { readHealth } from '#judge/simulate/health.ts'
import { readTime } from '#judge/simulate/question-text.ts'
import { scriptsOf } from '#judge/simulate/scripts.ts'
import { loadTablesAside } from '#judge/simulate/tables.ts'
import {
  atMostOne,
  CommandFault,
  commandLine,
  Exit,
  needed,
  optionValue,
  UsageError,
  wholeNumber,
} from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'

const usage = `Usage: gslbd plan [PATH] --base BASE [options]

Says which clients get another answer after a change: for each name, which share of them moves
from where to where, and what each member gets. The configuration in PATH (default: the current
directory) is compared with BASE.

  --base BASE       a commit of the checkout that PATH is in, such as origin/main; a bundle file; or
                    another directory, written with ./ or / at its beginning; or the address of a
                    node (https://…): the commit that it answers from, which the checkout must have
  --head HEAD       the same, in place of PATH as it is
  --health FILE     also under this health, as for "gslbd simulate": {"POOL/ADDRESS": false};
                    members that are not named are healthy; or the address of a node, by whose
                    health (GSLB_API_KEY is the key for a node)
  --at TIME         when, such as 2026-01-31T12:00:00Z (default: now); may be given often
  --geoip FILE      a city or country database (MMDB): for services that go by places, and to show
                    movements by country
  --asn FILE        a database of autonomous systems (MMDB), likewise by operator
  --traffic FILE    weigh clients by traffic, not by addresses: counts by country, network and name
                    as docs/operations/plan.md says; or the address of a node, by the queries that
                    it had in the last hour, by country (with --geoip); or rum+https://…: by what
                    browsers reported to that node in the last half hour, by network
  --exact           ask every client network where a service tells them apart (sticky), not
                    ${planLimits.networksMax.toLocaleString('en')} of them (fewer where many
                    names differ)
  --max-moved PCT   exit code 3 if more clients of a name move (default: guardrails.movedClients in
                    the gslb.yaml of BASE, if it is there); a name that is removed sends nobody
                    elsewhere: guardrails.removedNames limits those, when a node takes the commit
  --limit N         answers that the text shows of each scenario (default 50)
  --format F        text (default), json, markdown (for a comment) or html (one file)

Exit codes: 0 planned, whether answers differ or not; 1 errors in one of the configurations; 2 wrong
call, or a commit that is not there; 3 more clients move than --max-moved or the guardrail permits.`

const options = {
  base: { type: 'string' },
  head: { type: 'string' },
  health: { type: 'string' },
  at: { type: 'string', multiple: true },
  geoip: { type: 'string' },
  asn: { type: 'string' },
  traffic: { type: 'string' },
  exact: { type: 'boolean', default: false },
  'max-moved': { type: 'string' },
  limit: { type: 'string', default: '50' },
  format: { type: 'string', default: 'text' },
} as const

const instantsMax = 24

export const planCommand: Command = {
  name: 'plan',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    const directory = atMostOne(positionals, 'give one directory') ?? '.'
    if (values.base === undefined) throw new UsageError('give --base: what is there now')
    const print = printerOf(values.format, wholeNumber('--limit', values.limit, 0, 999_999), io)
    const maxMoved = values['max-moved'] === undefined ? null : percentOf(values['max-moved'])
    const nowMs = systemClock.nowMs()
    const instants = instantsOf(values.at, nowMs)
    const health = await healthOf(values.health, io)
    const traffic = await trafficOf(values.traffic, io)
    const loading = loadTablesAside(values)
    const { base: from, head: to } = values
    const sides = await findRevisions({ directory, base: from, head: to, nowMs, io })
    const tablesOf = needed(await loading, Exit.Usage)
    const withTables = (side: FoundSide) => ({ ...side, tables: tablesOf(side.bundle) })
    const [base, head] = [withTables(sides.base), withTables(sides.head)]
    const scripts = scriptsOf([base.bundle, head.bundle], base.tables, instants[0]!)
    const doing = 'comparing what clients get'
    io.progress?.(doing)
    const asked: PlanRequest = {
      ...{ base, head, scripts },
      moments: momentsOf(instants, health),
      geo: head.tables.geo,
      traffic,
      onName: (number, all) => io.progress?.(`${doing}: name`, number, all),
      ...(values.exact ? { limits: { networksMax: 2 ** 25 } } : {}),
    }
    const moved = new MovedNames()
    const made = makePlan({ ...asked, onChange: (change) => moved.add(change) })
    const limits = maxMoved === null ? base.moveLimits : { movedClients: maxMoved }
    const beyond = movedBeyond(limits, moved.all)
    const goneBack = () => {
      io.progress?.('looking whether it goes back to what answered before')
      return goneBackTo({
        directory,
        base: base.bundle.manifest.commit,
        head: head.bundle.manifest.commit,
        blobs: head.blobs,
        policyTests: createPolicyTests(),
        movedBetween: createMovedBetween(values),
      })
    }
    // A limit given on the command line has no exception for going back.
    const back = beyond === undefined || maxMoved !== null ? undefined : await goneBack()
    const stopped = scripts?.warnings() ?? []
    await scripts?.close()
    const plan = { ...made, warnings: [...sides.warnings, ...made.warnings, ...stopped] }
    io.out(print(plan))
    if (beyond === undefined) return Exit.Ok
    const words = back === undefined ? beyond.words : backClause(beyond, back)
    io.err(`gslbd plan: this change ${words}\n`)
    return back === undefined ? Exit.Guardrail : Exit.Ok
  },
}

function printerOf(format: string, answersMax: number, io: Io): (plan: Plan) => string {
  // https://no-color.org
  const isColoured = io.isTerminal && (io.env['NO_COLOR'] ?? '') === ''
  const style: Style = (format, text) =>
    isColoured ? styleText(format, text, { validateStream: false }) : text
  switch (format) {
    case 'text':
      return (plan) => printPlan(plan, { style, answersMax })
    case 'json':
      return (plan) => `${JSON.stringify(plan, null, 2)}\n`
    case 'markdown':
      return printPlanMarkdown
    case 'html':
      return printPlanHtml
    default:
      throw new UsageError('--format is text, json, markdown or html')
  }
}

/** Health from a file or a node; null: none was asked for. */
async function healthOf(
  source: string | undefined,
  io: Io,
): Promise<ReadonlyMap<string, AssumedHealth> | null> {
  if (source === undefined) return null
  io.progress?.(`reading ${source}`)
  return needed(isUrl(source) ? await healthAt(source, io.env) : readHealth(source), Exit.Usage)
}

/** Traffic from a file or a node; null: addresses are weighed. */
async function trafficOf(source: string | undefined, io: Io): Promise<Traffic | null> {
  if (source === undefined) return null
  io.progress?.(`reading ${source}`)
  const ask = isRumUrl(source) ? reportsAt : isUrl(source) ? trafficAt : undefined
  const traffic = ask === undefined ? readTraffic(source) : await ask(source, io.env)
  if (!traffic.ok) throw new CommandFault(Exit.Usage, `--traffic: ${traffic.error}`)
  return traffic.value
}

function instantsOf(texts: readonly string[] | undefined, nowMs: number): readonly number[] {
  if (texts === undefined) return [nowMs]
  if (texts.length > instantsMax)
    throw new UsageError(`--at is given more than ${instantsMax} times`)
  return texts.map((text) => optionValue('--at', readTime(text)))
}

/** With all members up, and under the given health. */
function momentsOf(
  instants: readonly number[],
  health: ReadonlyMap<string, AssumedHealth> | null,
): readonly Moment[] {
  return instants.flatMap((atMs) => [
    { atMs, health: null },
    ...(health === null ? [] : [{ atMs, health }]),
  ])
}

function percentOf(text: string): number {
  const value = Number(text)
  if (/^\d{1,3}(\.\d+)?$/.test(text) && value <= 100) return value
  throw new UsageError(`--max-moved is a percentage from 0 to 100, not "${text}"`)
}
