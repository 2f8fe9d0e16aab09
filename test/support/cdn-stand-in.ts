// A stand-in for a CDN with redirect rules in its zones: refuses what the real one refuses.
import { startStandIn } from './http-stand-in.ts'
import type { AskedOf, Given } from './http-stand-in.ts'

type Rule = Record<string, unknown>

interface Cdn {
  readonly url: string
  readonly rulesOf: (zone: string) => Rule[]
  /** Requests that were refused, apart from a wrong token. */
  readonly faults: readonly string[]
}

const entrypoint = /^\/zones\/(\w+)\/rulesets\/phases\/http_request_dynamic_redirect\/entrypoint$/
const rulePath = /^\/zones\/(\w+)\/rulesets\/rs-(\w+)\/rules(?:\/(\w+))?$/

/** The last of its zones has no ruleset yet. */
export async function startCdn(token: string, zones: readonly string[]): Promise<Cdn> {
  const rulesets = new Map<string, Rule[]>(zones.slice(0, -1).map((zone) => [zone, []]))
  const faults: string[] = []
  let count = 0
  const fail = (status: number, why: string): Given => {
    faults.push(why)
    return { status, body: { success: false, errors: [{ message: why }] } }
  }
  const good = (result: unknown): Given => ({ status: 200, body: { success: true, result } })
  const whole = (zone: string): Given => good({ id: `rs-${zone}`, rules: rulesets.get(zone) })
  const onEntrypoint = (zone: string, { method, body }: AskedOf): Given => {
    if (!zones.includes(zone)) return fail(404, `no zone ${zone}`)
    if (method === 'PUT') {
      const { rules } = body as { rules: Rule[] }
      const fault = rules.map(faultOf).find((one) => one !== undefined)
      if (fault !== undefined) return fail(400, fault)
      rulesets.set(
        zone,
        rules.map((rule) => ({ ...rule, id: `r${++count}` })),
      )
    } else if (method !== 'GET') return fail(405, method)
    else if (!rulesets.has(zone)) return { status: 404, body: { success: false } }
    return whole(zone)
  }
  const onRule = (zone: string, id: string | undefined, { method, body }: AskedOf): Given => {
    const rules = rulesets.get(zone)
    if (rules === undefined) return fail(404, `no ruleset of ${zone}`)
    const at = rules.findIndex((rule) => rule['id'] === id)
    if (id !== undefined && at < 0) return fail(404, `no rule ${id}`)
    if (method === 'DELETE') rules.splice(at, 1)
    else {
      const { position, ...rule } = body as Rule
      const fault = faultOf(rule)
      if (fault !== undefined) return fail(400, fault)
      if (method === 'PATCH') rules[at] = { ...rules[at], ...rule }
      else if (method !== 'POST' || id !== undefined) return fail(405, method)
      else if (position === undefined) rules.push({ ...rule, id: `r${++count}`, version: '1' })
      else rules.unshift({ ...rule, id: `r${++count}`, version: '1' })
    }
    return whole(zone)
  }
  const { url } = await startStandIn((asked) => {
    if (asked.headers['authorization'] !== `Bearer ${token}`) return { status: 401, body: {} }
    const [, zone] = entrypoint.exec(asked.path) ?? []
    if (zone !== undefined) return onEntrypoint(zone, asked)
    const [, of = '', ruleset, id] = rulePath.exec(asked.path) ?? []
    return ruleset === of ? onRule(of, id, asked) : fail(404, asked.path)
  })
  return { url, faults, rulesOf: (zone) => rulesets.get(zone) ?? [] }
}

const fields = ['action', 'action_parameters', 'description', 'enabled', 'expression']

function faultOf(rule: Rule): string | undefined {
  const odd = Object.keys(rule).find((key) => !fields.includes(key))
  if (odd !== undefined) return `unknown field ${odd}`
  if (rule['action'] !== 'redirect') return 'action is not redirect'
  const { from_value: value } = (rule['action_parameters'] ?? {}) as { from_value?: Rule }
  if (![301, 302, 307, 308].includes(Number(value?.['status_code']))) return 'no status'
  const { value: text, expression } = (value?.['target_url'] ?? {}) as Record<string, string>
  const isStatic = text !== undefined && /^https?:\/\/[!-~]+$/.test(text)
  const isConcat = /^concat\("https?:\/\/[^"\\]+", http\.request\.uri\)$/.test(expression ?? '')
  if (isStatic === isConcat) return 'target_url needs one of value and expression'
  const isHost = /^(http\.host eq "[a-z0-9._-]+"|ends_with\(http\.host, "\.[a-z0-9._-]+"\))$/
  return isHost.test(String(rule['expression'])) ? undefined : 'no such expression'
}
