// `gslbd push`: shows zones that are pushed to other servers, what a push would write, and has one
// done.
import { plain } from '#cli/terminal/paint.ts'
import { nodeApiFor } from '#cli/watch/node-api.ts'
import type { NodeApi } from '#cli/watch/node-api.ts'
import { fieldsOf, rowsOf } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'
import { commandLine, Exit, needed, UsageError } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'

const usage = `Usage: gslbd push status [--url URL] [--json]
       gslbd push plan NAME [--url URL] [--json]
       gslbd push apply NAME [--plan DIGEST] [--adopt] [--url URL]

Zones that a control node pushes to other servers, by the targets zonePush.targets of its settings.
"plan" asks the target what it has, and says what would be written. "apply" has it written within
its limits. GSLB_API_KEY is the key, with the permission settings:read, and settings:write to apply.

  --plan DIGEST  carries this very plan out, though it deletes more than the limit
  --adopt        records at the target that are as they are wanted become ours
  --url URL      the API of a control node (default GSLB_API_URL, or http://127.0.0.1:8080)
  --json         prints what the API gave

Exit codes: 0 all is well, or asked for; 1 a push fails, is held, or something is to be done, or the
node cannot be asked; 2 wrong call.`

const options = {
  url: { type: 'string' },
  json: { type: 'boolean', default: false },
  plan: { type: 'string' },
  adopt: { type: 'boolean', default: false },
} as const

/** A plan reads the whole zone at its target. */
const planMs = 65_000

export const push: Command = {
  name: 'push',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    const [verb, name, ...rest] = positionals
    const isNamed = name !== undefined
    const isKnown =
      (verb === 'status' && !isNamed) || (['plan', 'apply'].includes(verb ?? '') && isNamed)
    if (!isKnown || rest.length > 0) throw new UsageError('write status, plan NAME or apply NAME')
    const isApply = verb === 'apply'
    if (!isApply && (values.plan !== undefined || values.adopt)) {
      throw new UsageError('--plan and --adopt are for apply')
    }
    const api = nodeApiFor(values.url, io)
    if (name === undefined) return await showStatus(api, values.json, io)
    const path = `/api/v1/zone-pushes/${encodeURIComponent(name)}`
    if (!isApply) return await showPlan(api, path, name, values.json, io)
    const body = {
      adopt: values.adopt,
      ...(values.plan === undefined ? {} : { plan: values.plan }),
    }
    needed(await api.post(`${path}/apply`, { body }))
    io.out(`${plain(name)} is pushed within seconds; see how it went: gslbd push status\n`)
    return Exit.Ok
  },
}

async function showStatus(api: NodeApi, isJson: boolean, io: Io): Promise<Exit> {
  const listed = needed(await api.json('/api/v1/zone-pushes'))
  const all = rowsOf(listed)
  if (isJson) io.out(`${JSON.stringify(listed)}\n`)
  else io.out(all.length === 0 ? none : all.map(statusOf).join(''))
  return all.every(({ state }) => state === 'synced') ? Exit.Ok : Exit.ErrorsFound
}

const none = 'No zone is pushed: zonePush.targets is empty.\n'

function statusOf(push: Fields): string {
  const { name, type, zone, state, node, error, plan, lookedAt, deletesMax } = push
  const number = (key: string): number => Number(push[key])
  const at = typeof lookedAt === 'number' ? new Date(lookedAt).toISOString() : 'never'
  const pending = number('adds') + number('deletes') + number('ttlChanges')
  const digest = plan === '' ? '' : ` (plan ${String(plan)})`
  const lines = [
    `${String(type)} ${String(zone)}, looked at ${at}${typeof node === 'string' ? ` by ${node}` : ''}`,
    `${number('same')} records are there; of others ${number('foreign')}, in the way ${number('conflicts')}, taken away ${number('missing')}`,
    ...(pending === 0
      ? []
      : [`to write ${number('adds')}, to delete ${number('deletes')}${ttls(push)}${digest}`]),
    ...(state === 'held' ? [`held: one push may delete ${Number(deletesMax)}`] : []),
    ...(error === '' ? [] : [String(error)]),
    ...(Array.isArray(push['notes']) ? push['notes'].map(String) : []),
  ]
  return `${plain(String(name))}: ${String(state)}\n${lines.map((line) => `  ${plain(line)}\n`).join('')}`
}

async function showPlan(
  api: NodeApi,
  path: string,
  name: string,
  isJson: boolean,
  io: Io,
): Promise<Exit> {
  const asked = needed(await api.json(`${path}/plan`, [], planMs))
  const plan = fieldsOf(asked)
  const counts = fieldsOf(plan['counts'])
  if (isJson) io.out(`${JSON.stringify(asked)}\n`)
  else io.out(planText(name, plan, counts))
  return counts['changes'] === 0 ? Exit.Ok : Exit.ErrorsFound
}

function planText(name: string, plan: Fields, counts: Fields): string {
  const { digest, adds, deletes, deletesMax } = plan
  const isHeld = Number(deletes) > Number(deletesMax)
  const changes = rowsOf(plan['changes']).flatMap(({ name: owner, type, ttl, ...change }) => [
    ...textsOf(change['deletes']).map((value) => `- ${String(owner)} ${String(type)} ${value}`),
    ...textsOf(change['adds']).map(
      (value) => `+ ${String(owner)} ${String(ttl)} ${String(type)} ${value}`,
    ),
    ...(textsOf(change['deletes']).length + textsOf(change['adds']).length === 0
      ? [`~ ${String(owner)} ${String(type)}: TTL ${String(ttl)}`]
      : []),
  ])
  const foreign = rowsOf(plan['foreign']).flatMap(({ name: owner, type, values }) =>
    textsOf(values).map((value) => `= ${String(owner)} ${String(type)} ${value} (of others)`),
  )
  const notes = [...rowsOf(plan['conflicts']), ...rowsOf(plan['skipped'])].map(
    ({ name: owner, type, why }) => `! ${String(owner)} ${String(type)}: ${String(why)}`,
  )
  const left = leftOut(plan, counts)
  const lines = [...changes, ...foreign, ...notes, ...left].map((line) => `  ${plain(line)}\n`)
  const what =
    counts['changes'] === 0
      ? 'nothing to write'
      : `plan ${String(digest)}: ${Number(adds)} to write, ${Number(deletes)} to delete` +
        ttls(plan)
  const held = isHeld ? `, which is held: one push may delete ${Number(deletesMax)}` : ''
  return `${plain(name)}: ${what}${held}\n${lines.join('')}`
}

const ttls = ({ ttlChanges }: Fields): string =>
  Number(ttlChanges) > 0 ? `, ${Number(ttlChanges)} with another TTL` : ''

/** Lists have a limit. */
function leftOut(plan: Fields, counts: Fields): readonly string[] {
  return ['changes', 'foreign', 'conflicts', 'skipped'].flatMap((key) => {
    const more = Number(counts[key]) - rowsOf(plan[key]).length
    return more > 0 ? [`… and ${more} more of ${key}`] : []
  })
}

const textsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : []).map(String)
