// The settings of discovered members: `discovery` in gslbd.yaml.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { parseDuration } from '#lib/duration.ts'
import { tenantOrOthersPattern } from '#lib/text/patterns.ts'
import { boolean, duration, integer, section } from '#settings/forms/forms.ts'

interface TypeKeys {
  /** Keys that it must have. */
  readonly needs: readonly string[]
  readonly may: readonly string[]
}

const always = ['type', 'interval', 'timeout', 'weightLabel', 'tenants']

/** What a source of each type is written with, beside what each may have. */
export const discoveryTypes: Readonly<Record<string, TypeKeys>> = Object.freeze({
  file: { needs: ['path'], may: [] },
  http: { needs: ['url'], may: ['user'] },
  dns: { needs: [], may: [] },
  consul: { needs: ['url'], may: [] },
  kubernetes: { needs: [], may: ['kubeconfig'] },
  fleet: { needs: [], may: [] },
})
const typeNames = Object.keys(discoveryTypes).join(', ')

const sourceForm = Type.Record(
  Type.String({ pattern: '^[a-zA-Z]{1,32}$' }),
  Type.Union(
    [
      Type.String({ maxLength: 4_096 }),
      Type.Array(Type.String({ pattern: tenantOrOthersPattern }), { maxItems: 1_000 }),
    ],
    { 'x-expected': "a text such as 30s or 'web', or for tenants a list such as [shop, blog]" },
  ),
  {
    additionalProperties: false,
    maxProperties: 16,
    'x-expected':
      'keys of letters with texts, such as ' +
      '{ type: http, url: "https://inventory.example.net/web.json", interval: 30s }',
  },
)

export const discovery = section(
  'Sources that members with `from` are discovered by. [More](../operations/discovery.md).',
  {
    sources: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' }), sourceForm, {
        additionalProperties: false,
        default: {},
        maxProperties: 100,
        'x-expected':
          'names in small letters, digits and dashes, each with texts such as ' +
          '{ type: http, url: "https://inventory.example.net/web.json", interval: 30s }, ' +
          'and with tenants: [ID, …] where others than the tenant default use it',
        description:
          'Sources by names of your own, each with its `type` (' +
          `${typeNames}) and what that needs. Pools of the tenants in \`tenants: [ID, …]\` may ` +
          "name it, of all with `['*']`; without it only those of the tenant `default`. Tokens " +
          'and passwords belong in GSLB_DISCOVERY_NAME_TOKEN and GSLB_DISCOVERY_NAME_PASSWORD.',
      }),
    ),
    share: boolean({
      default: false,
      description:
        'Whether this control node tells the nodes of its Redis, signed by its key, what its ' +
        'sources find. They read it by a source of the same name with the type `fleet`.',
    }),
    maxRemoved: integer(0, 100, {
      default: 50,
      description:
        'How many percent of the members that a pool has by a source may vanish at once. Where ' +
        'more do, all stay until they are found again, or this is higher. All of them never ' +
        'vanish by themselves.',
    }),
    removeAfter: duration({
      default: '10s',
      minimumMs: 0,
      maximumMs: 3_600_000,
      description:
        'How long a member must be missing before it is taken out, so that one that flaps stays. ' +
        'Its health is probed meanwhile.',
    }),
  },
)
type DiscoverySection = Static<typeof discovery>

const times = {
  interval: { leastMs: 1_000, mostMs: 86_400_000, form: '1s to 24h' },
  timeout: { leastMs: 100, mostMs: 300_000, form: '100ms to 5m' },
} as const

/** @returns a sentence for each fault of what is written there */
export function faultsOfDiscovery({ discovery: written, redis, roles }: Uses): string[] {
  const { sources, share } = written
  const isOfFleet = (source: Written): boolean => source['type'] === 'fleet'
  const named = Object.entries(sources)
  return [
    ...named.flatMap(([name, source]) =>
      faultsOfSource(source).map((fault) => `discovery.sources.${name}${fault}`),
    ),
    ...named.flatMap(([name, source]) =>
      isOfFleet(source) && redis.url === '' ? [`discovery.sources.${name}.type is ${noRedis}`] : [],
    ),
    ...(share && redis.url === '' ? [`discovery.share is true, which ${needsRedis}`] : []),
    ...(share && !roles.includes('control') ? [notControl] : []),
  ]
}

interface Uses {
  readonly discovery: DiscoverySection
  readonly redis: { readonly url: string }
  readonly roles: readonly string[]
}

const needsRedis = 'needs redis.url: nodes share by Redis what they find'
const noRedis = `fleet, which ${needsRedis}`
const notControl =
  'discovery.share is for control nodes, whose keys others know; take it away on this node'

type Written = DiscoverySection['sources'][string]

function faultsOfSource(source: Written): string[] {
  const { tenants = [], ...others } = source
  const lists = Object.keys(others).filter((key) => typeof others[key] !== 'string')
  if (lists.length > 0) return lists.map((key) => `.${key} is a list, write one text`)
  const faults = faultsOfTexts(others as Readonly<Record<string, string>>)
  if (typeof tenants === 'string') faults.push(".tenants is no list, write [ID, …] or ['*']")
  return faults
}

function faultsOfTexts(written: Readonly<Record<string, string>>): string[] {
  const { type } = written
  const keys = type === undefined ? undefined : discoveryTypes[type]
  if (keys === undefined) {
    const is = type === undefined ? 'is missing' : `is "${type}", which is not known`
    return [`.type ${is}; the types are ${typeNames}`]
  }
  const known = [...always, ...keys.needs, ...keys.may]
  const faults = Object.keys(written)
    .filter((key) => !known.includes(key))
    .map((key) => `.${key} is not known for type ${type}; it may have ${known.join(', ')}`)
  for (const key of keys.needs) {
    if ((written[key] ?? '') === '') faults.push(`.${key} is missing; type ${type} needs it`)
  }
  const { path = '/', kubeconfig = '/', url = 'http://x', weightLabel = 'weight' } = written
  if (!path.startsWith('/')) faults.push(`.path is "${path}", write an absolute path`)
  if (!kubeconfig.startsWith('/')) faults.push(`.kubeconfig is no absolute path; write one`)
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    faults.push('.url is no address that begins with http:// or https://; write one')
  } else if (parsed.username + parsed.password !== '') {
    faults.push('.url has a name or password; write user, and the password in the environment')
  }
  if (!/^[A-Za-z0-9_.-]{1,63}$/.test(weightLabel)) {
    faults.push('.weightLabel is no name of a label; write letters, digits, _, . and -')
  }
  for (const [key, { leastMs, mostMs, form }] of Object.entries(times)) {
    const text = written[key]
    const time = parseDuration(text ?? '10s')
    if (time.ok && time.value >= leastMs && time.value <= mostMs) continue
    faults.push(`.${key} is "${text}", write a duration from ${form}, such as 30s`)
  }
  return faults
}
