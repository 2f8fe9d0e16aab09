// Shows any value of the API as text: times as times, switches as words, parts as YAML.
import { memberOf, poolOf, targetOf } from '../api/live.ts'
import { Badge, Code, Time } from '../parts/page.tsx'
import type { Tone } from '../parts/page.tsx'
import { labelOf, textOf, yamlOf } from '../parts/formats.ts'
import type { Row } from './columns.ts'

const tones: Readonly<Record<string, Tone>> = {
  ok: 'good',
  active: 'good',
  verified: 'good',
  valid: 'good',
  running: 'info',
  scheduled: 'info',
  pending: 'warn',
  paused: 'warn',
  degraded: 'warn',
  open: 'bad',
  failed: 'bad',
  rolled_back: 'bad',
}

interface ValueProps {
  readonly name: string
  readonly value: unknown
  /** In a table: of a long list its first entries. */
  readonly isShort?: boolean
}

const listedMax = 4

export function Value({ name, value, isShort = false }: ValueProps) {
  if (isShort && Array.isArray(value) && value.length > listedMax) {
    const more = value.length - listedMax
    return <span>{`${textOf(value.slice(0, listedMax))} and ${more} more`}</span>
  }
  const ms = timeOf(name, value)
  if (ms !== undefined) return <Time ms={ms} />
  if (/Ids$/.test(name) && Array.isArray(value)) {
    return <span>{textOf(value.map((id: unknown) => nameOf(String(id))?.name ?? id))}</span>
  }
  const named = typeof value === 'string' && /Id$/.test(name) ? nameOf(value) : undefined
  if (named !== undefined) {
    // In a table the row is a link already.
    return isShort ? <span>{named.name}</span> : <a href={`#${named.path}`}>{named.name}</a>
  }
  if (typeof value === 'boolean') {
    return <Badge tone={value ? 'info' : 'plain'}>{value ? 'yes' : 'no'}</Badge>
  }
  if (/^(?:status|state)$/.test(name) && typeof value === 'string' && value !== '') {
    return <Badge tone={tones[value] ?? 'plain'}>{value}</Badge>
  }
  if (/^(?:commit|digest)$/.test(name) && typeof value === 'string') {
    return <code title={value}>{value.slice(0, 12)}</code>
  }
  return <span>{textOf(value)}</span>
}

/** Names the pool or member of an id, whatever the field is called. */
export function nameOf(id: string): { readonly name: string; readonly path: string } | undefined {
  const pool = poolOf(id)
  const member = memberOf(id)
  const path = encodeURIComponent(id)
  if (pool !== undefined) return { name: pool.name, path: `/pools/${path}` }
  return member && { name: targetOf(member), path: `/members/${path}` }
}

/** Unix seconds or milliseconds, or a text of ISO 8601, in fields that are called so. */
function timeOf(name: string, value: unknown): number | undefined {
  if (!/(?:At|AtMs|^time|[sS]ince|^from|[uU]ntil)$/.test(name)) return undefined
  if (typeof value === 'number' && (value === 0 || value > 1e8))
    return value > 1e11 ? value : value * 1_000
  if (typeof value !== 'string') return undefined
  const ms = Date.parse(value)
  return Number.isNaN(ms) ? undefined : ms
}

export function Facts({ value }: { value: Row }) {
  return (
    <dl class="facts">
      {Object.entries(value).map(([name, one]) => [
        <dt key={`${name} dt`}>{labelOf(name)}</dt>,
        <dd key={name}>
          {isPart(one) ? (
            <Code name={labelOf(name)} text={yamlOf(one).trim()} />
          ) : (
            <Value name={name} value={one} />
          )}
        </dd>,
      ])}
    </dl>
  )
}

const isPart = (value: unknown): boolean =>
  value !== null &&
  typeof value === 'object' &&
  JSON.stringify(value).length > 2 &&
  !(Array.isArray(value) && value.every((one) => typeof one !== 'object'))
