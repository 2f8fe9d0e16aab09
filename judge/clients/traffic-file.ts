// Reads counted traffic: a JSON file of counts by country, network and name.
import { readFileSync, statSync } from 'node:fs'
import { lineIn } from './json-line.ts'
import { foldName, formatName, parseName } from '#dns/name.ts'
import { isFields, textOfFile } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { CountedNetwork, Traffic } from './traffic.ts'
import { parseCidr } from '#routing/tables/cidr.ts'

const trafficLimits = {
  bytesMax: 64 * 1_048_576,
  /** Each network is searched for. */
  networksMax: 200_000,
  namesMax: 1_000_000,
  /** Larger numbers lose their last digits. */
  countMax: 2 ** 53 - 1,
} as const

/** Errors: a sentence that names the path. */
export function readTraffic(path: string): Result<Traffic, string> {
  let text: string
  let value: unknown
  try {
    const { size } = statSync(path)
    if (size > trafficLimits.bytesMax) {
      return err(`${path} has more than ${trafficLimits.bytesMax / 1_048_576} MiB`)
    }
    text = textOfFile(readFileSync(path))
    value = JSON.parse(text)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return err(code === 'ENOENT' ? `${path}: there is no such file` : `${path}: ${message}`)
  }
  return trafficIn(value, path, (...keys) => {
    const line = lineIn(text, keys)
    return line === undefined ? path : `${path}:${line}`
  })
}

/** Place of a value: the source, and its line if it has lines. */
type PlaceOf = (...keys: readonly string[]) => string

const fields = ['seconds', 'sampled', 'countries', 'networks', 'names'] as const

/** @param source name in errors: a path or an address */
export function trafficIn(
  value: unknown,
  source: string,
  placeOf: PlaceOf = () => source,
): Result<Traffic, string> {
  if (!isFields(value)) {
    return err(`${source}: write an object such as {"seconds": 3600, "countries": {"DE": 1200}}`)
  }
  const known: readonly string[] = fields
  const strange = Object.keys(value).find((name) => !known.includes(name))
  if (strange !== undefined) {
    return err(
      `${placeOf(strange)}: there is no field "${shown(strange)}"; write ${fields.join(', ')}`,
    )
  }
  for (const name of ['seconds', 'sampled'] as const) {
    const given = value[name]
    if (given !== undefined && !(isCount(given) && given > 0)) {
      return err(`${placeOf(name)}: ${name} is ${valueText(given)}; write a number above 0`)
    }
  }
  const countries = countsOf(value, 'countries', placeOf, countryIn)
  if (!countries.ok) return countries
  const names = countsOf(value, 'names', placeOf, nameIn)
  if (!names.ok) return names
  const networks = countsOf(value, 'networks', placeOf, networkIn)
  if (!networks.ok) return networks
  const { networksMax, namesMax } = trafficLimits
  if (networks.value.length > networksMax) {
    return err(`${source}: more than ${networksMax} networks: count wider ones`)
  }
  if (names.value.length > namesMax) return err(`${source}: more than ${namesMax} names`)
  const all = [...countries.value, ...networks.value]
  if (all.every(([, count]) => count === 0)) {
    return err(`${source}: no client is counted: give counts in countries or networks`)
  }
  return ok({
    source,
    seconds: (value['seconds'] as number | undefined) ?? null,
    sampled: (value['sampled'] as number | undefined) ?? null,
    countries: summed(countries.value),
    names: summed(names.value),
    networks: networks.value.flatMap(([network, count]): readonly CountedNetwork[] => {
      const cidr = parseCidr(network)
      return cidr.ok ? [{ network, count, ...cidr.value }] : []
    }),
  })
}

type Counts = readonly (readonly [key: string, count: number])[]

/** @param read normalises a key; errors: a clause */
function countsOf(
  all: Readonly<Record<string, unknown>>,
  field: 'countries' | 'networks' | 'names',
  placeOf: PlaceOf,
  read: (key: string) => Result<string, string>,
): Result<Counts, string> {
  if (all[field] === undefined) return ok([])
  const given = all[field]
  if (!isFields(given)) return err(`${placeOf(field)}: ${field} must be an object of counts`)
  const counts: (readonly [string, number])[] = []
  for (const [key, count] of Object.entries(given)) {
    const kept = read(key)
    if (!kept.ok) return err(`${placeOf(field, key)}: ${field}: ${kept.error}`)
    if (!isCount(count)) {
      const most = trafficLimits.countMax.toLocaleString('en')
      const what = `the count of "${shown(key)}" is ${valueText(count)}`
      return err(`${placeOf(field, key)}: ${field}: ${what}; write a number from 0 to ${most}`)
    }
    counts.push([kept.value, count])
  }
  return ok(counts)
}

/** Adds up keys that are written in several ways, as in capitals. */
function summed(counts: Counts): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count)
  return sums
}

function countryIn(text: string): Result<string, string> {
  if (text === '' || /^[A-Za-z]{2}$/.test(text)) return ok(text.toUpperCase())
  return err(`"${shown(text)}" is no country; write two letters, or "" for those in no database`)
}

function networkIn(text: string): Result<string, string> {
  const cidr = parseCidr(text)
  return cidr.ok ? ok(text) : cidr
}

/** A name, or a name and a type. */
function nameIn(text: string): Result<string, string> {
  const [first = '', type = '', ...rest] = text.trim().split(/ +/)
  const name = parseName(first)
  if (!name.ok || first === '' || rest.length > 0) {
    return err(`"${shown(text)}" is no name; write www.example.com. or "www.example.com. AAAA"`)
  }
  const kept = formatName(foldName(name.value))
  return ok(type === '' ? kept : `${kept} ${type.toUpperCase()}`)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= trafficLimits.countMax
}

function valueText(value: unknown): string {
  const isText = typeof value === 'string'
  return isText ? `the text "${shown(value)}"` : shown(JSON.stringify(value))
}

/** Long or unprintable text is shortened. */
function shown(text: string): string {
  return text.slice(0, 64).replace(/[\p{Cc}"]/gu, '?')
}
