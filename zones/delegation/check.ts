// Checks the delegation of a domain: the records at its parent, and whether its name servers serve
// it.
import { RrType } from '#dns/rrtype.ts'
import { Rcode } from '#dns/rcode.ts'
import { domainSilences } from '#state/ports/domains.ts'
import type { DomainCheck, DomainFault, DomainResult } from '#state/ports/domains.ts'
import type { Refusal } from './exchange.ts'
import { serversIn } from './from-root.ts'
import { delegationLimits } from './limits.ts'
import type { Questions } from './questions.ts'
import type { Answered } from './response.ts'
import type { ServerName } from './root-hints.ts'
import { isInside } from './zone-finder.ts'
import type { FoundZone, ZoneFinder } from './zone-finder.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'

export interface WantedDelegation {
  /** Lower case, with the final dot. */
  readonly domain: string
  /** Name servers of the zone here, which the parent should list as well. */
  readonly nameservers: readonly ServerName[]
  /**
   * DS records of our keys in presentation form; empty: the zone is not signed. null: it is signed
   * by keys that are not here, and any DS is accepted.
   */
  readonly ds: readonly string[] | null
}

interface CheckParts {
  readonly finder: ZoneFinder
  readonly questions: Questions
  readonly nowMs: () => number
}

/** Never rejects, and ends in bounded time. */
export async function checkDelegation(
  wanted: WantedDelegation,
  parts: CheckParts,
): Promise<DomainResult> {
  const { domain } = wanted
  const zone = await parts.finder.parentOf(domain)
  if (!zone.ok) {
    const error = sentence(`the domain ${zone.error.why}`)
    const row = { role: 'parent', server: '', address: '', ns: [], ds: [] } as const
    const checks = [{ ...row, code: zone.error.code, error, atMs: parts.nowMs() }]
    return resultOf(wanted, checks, parts.nowMs())
  }
  const said = await Promise.all(
    zone.value.servers
      .slice(0, delegationLimits.serversMax)
      .map((server) => askParent(server, zone.value, wanted, parts)),
  )
  const servers = said.flatMap(({ delegated }) => delegated)
  const checked = await Promise.all(
    merged(servers).map((server) => askNameserver(server, wanted, parts)),
  )
  return resultOf(wanted, [...said.map(({ check }) => check), ...checked], parts.nowMs())
}

interface ParentAnswer {
  readonly check: DomainCheck
  readonly delegated: readonly ServerName[]
}

interface Fault {
  readonly code: DomainFault
  readonly why: string
}

async function askParent(
  server: ServerName,
  zone: FoundZone,
  wanted: WantedDelegation,
  parts: CheckParts,
): Promise<ParentAnswer> {
  const { domain } = wanted
  const asked = await askOne(server, domain, RrType.NS, parts)
  const row = { role: 'parent', server: server.name, address: asked.address } as const
  const ended = (faults: readonly Fault[], ns: readonly string[], ds: readonly string[]) => ({
    ...{ ...row, ns: kept(ns), ds: kept(ds), code: faults[0]?.code ?? ('' as const) },
    error: sentence(faults.map(({ why }) => `${server.name} ${why}`).join('; ')),
    atMs: parts.nowMs(),
  })
  if (!asked.ok) return { check: ended([asked.error], [], []), delegated: [] }
  const found = await wholeDelegation(asked, zone, domain, parts)
  if ('code' in found) return { check: ended([found], [], []), delegated: [] }
  const ds = await parts.questions.ask(asked.address, domain, RrType.DS)
  const digests = ds.ok ? digestsIn(ds.value, domain) : []
  const names = found.servers.map(({ name }) => name).toSorted()
  const faults = [
    ...namesFault(names, wanted),
    ...(found.isReferral ? glueFaults(found.servers, wanted) : []),
    ...(ds.ok ? dsFaults(digests, wanted) : [{ ...ds.error, why: `${ds.error.why} (DS)` }]),
  ]
  const check = { ...ended(faults, names, digests), ...(ds.ok ? {} : { isDsUnknown: true }) }
  return { check, delegated: found.servers }
}

/**
 * A referral without glue may have lost it: before RFC 9471, servers silently left addresses out of
 * UDP answers.
 */
async function wholeDelegation(
  { address, value }: OneAsked & { readonly ok: true },
  zone: FoundZone,
  domain: string,
  { questions }: CheckParts,
): Promise<Delegation | Fault> {
  const found = delegationIn(value, zone, domain)
  if ('code' in found || !found.isReferral || !lacksGlue(found.servers, domain)) return found
  const again = await questions.ask(address, domain, RrType.NS, 'tcp')
  const whole = again.ok ? delegationIn(again.value, zone, domain) : found
  return 'code' in whole ? found : whole
}

function lacksGlue(servers: readonly ServerName[], domain: string): boolean {
  return servers.some(({ name, addresses }) => addresses.length === 0 && isInside(name, domain))
}

interface Delegation {
  readonly servers: readonly ServerName[]
  /** False: this server also has the zone of the domain, and answers from it. */
  readonly isReferral: boolean
}

function delegationIn(answered: Answered, zone: FoundZone, domain: string): Delegation | Fault {
  const { rcode, isAuthoritative, answer, authority, additional } = answered
  const own = serversIn(answer, domain, additional)
  if (own.length > 0) return { servers: own, isReferral: false }
  const servers = serversIn(authority, domain, additional)
  if (rcode === Rcode.NoError && !isAuthoritative && servers.length > 0) {
    return { servers, isReferral: true }
  }
  const other = authority.find(({ type }) => type === RrType.NS)
  if (!isAuthoritative && other !== undefined) {
    return { code: 'wrong-referral', why: `leads to ${other.owner} in the place of ${domain}` }
  }
  if (!isAuthoritative) return { code: 'lame', why: `is not authoritative for ${zone.name}` }
  const why = `has no NS records of ${domain}: add them to the zone ${zone.name}`
  return { code: 'no-delegation', why }
}

function namesFault(names: readonly string[], { nameservers }: WantedDelegation): readonly Fault[] {
  const wanted = new Set(nameservers.map(({ name }) => name))
  const missing = [...wanted].filter((name) => !names.includes(name))
  const extra = names.filter((name) => !wanted.has(name))
  if (missing.length === 0 && extra.length === 0) return []
  const said = [
    ...(missing.length > 0 ? [`lacks NS ${missing.join(', ')}`] : []),
    ...(extra.length > 0 ? [`has NS ${extra.join(', ')}, which the zone has not`] : []),
  ]
  return [{ code: 'ns-mismatch', why: said.join(' and ') }]
}

function glueFaults(
  servers: readonly ServerName[],
  { domain, nameservers }: WantedDelegation,
): readonly Fault[] {
  return servers
    .filter(({ name }) => isInside(name, domain))
    .flatMap(({ name, addresses }): Fault[] => {
      if (addresses.length === 0) {
        return [{ code: 'missing-glue', why: `gives no address of ${name}, which is inside` }]
      }
      const own = nameservers.find((one) => one.name === name)?.addresses ?? []
      const isSame = own.toSorted().join() === addresses.toSorted().join()
      if (own.length === 0 || isSame) return []
      const why = `gives ${addresses.join(', ')} for ${name}; the zone has ${own.join(', ')}`
      return [{ code: 'glue-mismatch', why }]
    })
}

function digestsIn({ answer }: Answered, domain: string): readonly string[] {
  return answer
    .filter(({ type, owner }) => type === RrType.DS && owner === domain)
    .map(({ text }) => text)
    .toSorted()
}

function dsFaults(digests: readonly string[], { ds }: WantedDelegation): readonly Fault[] {
  if (ds === null) return []
  if (ds.length === 0) {
    if (digests.length === 0) return []
    const harm = 'validating resolvers take every answer for a forgery: remove it'
    return [{ code: 'ds-unexpected', why: `has a DS of a zone that is not signed; ${harm}` }]
  }
  if (digests.length === 0) return [{ code: 'ds-missing', why: 'has no DS of the signed zone' }]
  if (digests.some((one) => ds.includes(one))) return []
  return [{ code: 'ds-mismatch', why: 'has a DS that is of no key of the zone' }]
}

async function askNameserver(
  server: ServerName,
  { domain }: WantedDelegation,
  parts: CheckParts,
): Promise<DomainCheck> {
  const asked = await askOne(server, domain, RrType.NS, parts)
  const fault: Fault | undefined = asked.ok ? lameness(asked.value, domain) : unserved(asked.error)
  const names = asked.ok ? serversIn(asked.value.answer, domain, []).map(({ name }) => name) : []
  return {
    ...{ role: 'nameserver', server: server.name, address: asked.address },
    ...{ ns: kept(names.toSorted()), ds: [], code: fault?.code ?? '' },
    error: fault === undefined ? '' : sentence(`${server.name} ${fault.why}`),
    atMs: parts.nowMs(),
  }
}

/** A server that refuses the domain is lame; a silent one may only be away. */
function unserved(refusal: Refusal): Fault {
  if (refusal.code !== 'refused') return refusal
  return { code: 'lame', why: `${refusal.why} for its zone: it does not serve it` }
}

function lameness({ isAuthoritative, answer }: Answered, domain: string): Fault | undefined {
  if (isAuthoritative && serversIn(answer, domain, []).length > 0) return undefined
  const why = isAuthoritative
    ? `knows no zone ${domain}: declare it`
    : `is not authoritative for ${domain}`
  return { code: 'lame', why }
}

type OneAsked = { readonly address: string } & (
  { readonly ok: true; readonly value: Answered } | { readonly ok: false; readonly error: Refusal }
)

/** Asks a server at the first of its addresses that answers; at most two. */
async function askOne(
  { name, addresses }: ServerName,
  domain: string,
  type: number,
  { finder, questions }: CheckParts,
): Promise<OneAsked> {
  const known = addresses.length > 0 ? addresses : await finder.addressesOf(name)
  let last: OneAsked = {
    ...{ address: '', ok: false },
    error: { code: 'no-address', why: 'has no address that can be found' },
  }
  for (const address of known.slice(0, 2)) {
    last = { address, ...(await questions.ask(address, domain, type)) }
    if (last.ok) return last
  }
  return last
}

/** Each name once, with all addresses from any server. */
function merged(servers: readonly ServerName[]): readonly ServerName[] {
  const all = new Map<string, Set<string>>()
  for (const { name, addresses } of servers) {
    const known = getOrInsert(all, name, () => new Set())
    for (const address of addresses) known.add(address)
  }
  return [...all]
    .slice(0, delegationLimits.serversMax)
    .map(([name, addresses]) => ({ name, addresses: [...addresses] }))
}

const ofDs: ReadonlySet<string> = new Set(['ds-unexpected', 'ds-missing', 'ds-mismatch'])

function resultOf(
  { domain, ds }: WantedDelegation,
  checks: readonly DomainCheck[],
  verifiedAtMs: number,
): DomainResult {
  const faulty = checks.filter(({ code }) => code !== '')
  const decisive = faulty.filter(({ code }) => !domainSilences.has(code) && !ofDs.has(code))
  const hasAnswer = (role: DomainCheck['role']): boolean =>
    checks.some((one) => one.role === role && one.ns.length > 0)
  const nsOk = decisive.length === 0 && hasAnswer('parent') && hasAnswer('nameserver')
  const parents = checks.filter(({ role, ns }) => role === 'parent' && ns.length > 0)
  const areDsGood = parents.every((one) =>
    one.ds.some((digest) => ds === null || ds.includes(digest)),
  )
  const dsExpected = ds === null || ds.length > 0
  const first = decisive[0] ?? faulty.find(({ code }) => ofDs.has(code)) ?? faulty[0]
  return {
    domain,
    nsOk,
    dsOk: dsExpected && parents.length > 0 && areDsGood,
    dsExpected,
    error: first?.error ?? '',
    checks,
    verifiedAtMs,
  }
}

function sentence(text: string): string {
  const { sentenceMax } = delegationLimits
  return text.length <= sentenceMax ? text : `${text.slice(0, sentenceMax - 1)}…`
}

/** Bounds the number of texts and their total length. */
function kept(texts: readonly string[]): readonly string[] {
  let left: number = delegationLimits.textMax
  return texts.slice(0, delegationLimits.recordsKeptMax).filter((text) => {
    left -= text.length
    return left >= 0
  })
}
