// The section `zonePush` of gslbd.yaml: servers of others that zones are mirrored to.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { parseDuration } from '#lib/duration.ts'
import { isLoopbackName } from '#lib/loopback.ts'
import { section } from '#settings/forms/forms.ts'

interface TypeKeys {
  /** Keys that it must have. */
  readonly needs: readonly string[]
  readonly may: readonly string[]
}

const always = [
  ...['type', 'zone', 'interval', 'mode', 'services', 'followHealth', 'apexNs', 'deletesMax'],
]

/** What a target of each type is written with, beside what each may have. */
export const pushTypes: Readonly<Record<string, TypeKeys>> = Object.freeze({
  rfc2136: { needs: ['server', 'keyFile'], may: ['key'] },
  route53: { needs: ['zoneId'], may: ['url'] },
  cloudflare: { needs: ['zoneId'], may: ['url'] },
})
const typeNames = Object.keys(pushTypes).join(', ')

const example = '{ type: route53, zone: example.com, zoneId: Z111111QQQQQQQ }'

const targetForm = Type.Record(
  Type.String({ pattern: '^[a-zA-Z]{1,32}$' }),
  Type.Union([Type.String({ maxLength: 4_096 }), Type.Integer(), Type.Boolean()], {
    'x-expected': 'a text such as 5m, a whole number, or true or false',
  }),
  {
    additionalProperties: false,
    maxProperties: 16,
    'x-expected': `keys of letters, such as ${example}`,
  },
)

export const zonePush = section(
  'Zones of ours that other servers answer, too. [More](../operations/zone-push.md).',
  {
    targets: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' }), targetForm, {
        additionalProperties: false,
        default: {},
        maxProperties: 100,
        'x-expected': `names in small letters, digits and dashes, each with keys as ${example}`,
        description:
          'Targets by names of your own, each with its `type` (' +
          `${typeNames}), its \`zone\`, and what the type needs. Each may have \`interval\`, ` +
          '`mode`, `services`, `followHealth`, `apexNs` and `deletesMax`. Secrets belong in ' +
          'GSLB_ZONE_PUSH_NAME_TOKEN (Cloudflare), and GSLB_ZONE_PUSH_NAME_ACCESS_KEY_ID and ' +
          'GSLB_ZONE_PUSH_NAME_SECRET_ACCESS_KEY (Route 53).',
      }),
    ),
  },
)
export type ZonePushSection = Static<typeof zonePush>

export const pushDefaults = {
  ...{ interval: '5m', mode: 'auto', services: 'answer', deletesMax: 10 },
} as const

/** @returns a sentence for each fault of what is written there */
export function faultsOfZonePush({ targets }: ZonePushSection): string[] {
  return Object.entries(targets).flatMap(([name, written]) =>
    faultsOfTarget(written).map((fault) => `zonePush.targets.${name}${fault}`),
  )
}

type Written = ZonePushSection['targets'][string]

function faultsOfTarget(written: Written): string[] {
  const { type } = written
  const keys = typeof type === 'string' ? pushTypes[type] : undefined
  if (keys === undefined) {
    const is = type === undefined ? 'is missing' : `is "${String(type)}", which is not known`
    return [`.type ${is}; the types are ${typeNames}`]
  }
  const known = [...always, ...keys.needs, ...keys.may]
  const faults = Object.keys(written)
    .filter((key) => !known.includes(key))
    .map((key) => `.${key} is not known for type ${String(type)}; it may have ${known.join(', ')}`)
  for (const key of ['zone', ...keys.needs]) {
    if ((written[key] ?? '') === '') faults.push(`.${key} is missing; write it`)
  }
  if (faults.length > 0) return faults
  for (const [key, form] of Object.entries(forms)) {
    const value = written[key]
    if (value !== undefined && !form.is(value)) {
      faults.push(`.${key} is ${JSON.stringify(value)}, write ${form.says}`)
    }
  }
  return faults
}

interface Form {
  readonly is: (value: string | number | boolean) => boolean
  readonly says: string
}

const matches =
  (form: RegExp): Form['is'] =>
  (value) =>
    form.test(String(value))
const oneOf = (...words: readonly string[]): Form => ({
  is: (value) => words.includes(String(value)),
  says: words.join(' or '),
})
const truth: Form = { is: (value) => typeof value === 'boolean', says: 'true or false' }
const label = '[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?'

/** Shortest interval: each round reads the whole zone at the target. */
const intervalMs = { least: 30_000, most: 86_400_000 } as const

const urlSays =
  'an address that begins with https://, without a password; http:// is for this machine alone'

const forms: Readonly<Record<string, Form>> = {
  zone: { is: matches(new RegExp(`^(${label}\\.)*${label}\\.?$`)), says: 'the name of a zone' },
  interval: { is: isInterval, says: 'a duration from 30s to 24h, such as 5m' },
  mode: oneOf('auto', 'manual'),
  services: oneOf('answer', 'skip'),
  ...{ followHealth: truth, apexNs: truth },
  deletesMax: {
    is: (value) => typeof value === 'number' && value >= 0 && value <= 100_000,
    says: 'a whole number from 0 to 100000',
  },
  server: {
    is: isServer,
    says: 'an address, with a port or without, such as 192.0.2.53 or "[2001:db8::53]:5353"',
  },
  keyFile: { is: matches(/^\//), says: 'an absolute path' },
  key: { is: matches(/^[\w-]{1,63}(\.[\w-]{1,63})*\.?$/), says: 'the name of a key in keyFile' },
  zoneId: { is: matches(/^[A-Za-z0-9]{1,64}$/), says: 'the id of the zone, in letters and digits' },
  url: { is: isUrl, says: urlSays },
}

function isInterval(value: string | number | boolean): boolean {
  const time = parseDuration(String(value))
  return time.ok && time.value >= intervalMs.least && time.value <= intervalMs.most
}

function isServer(value: string | number | boolean): boolean {
  const text = String(value)
  const port = /^(?:[0-9.]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/.exec(text)?.[1]
  return /^[0-9a-fA-F:.[\]]{2,64}$/.test(text) && Number(port ?? 53) <= 65_535
}

/** A token must not be sent in clear text, but to this machine. */
function isUrl(value: string | number | boolean): boolean {
  const url = URL.parse(String(value))
  if (url === null || url.username + url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackName(url.hostname))
}
