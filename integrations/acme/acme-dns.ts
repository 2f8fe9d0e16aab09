// The acme-dns endpoint: a key for each name, which sets at most two TXT values there.
import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type {
  AcmeDns,
  AcmeDnsFault,
  AcmeDnsKey,
  AcmeDnsRegistration,
  AcmeDnsUpdate,
} from '#ports/acme-dns.ts'
import { isMappedIpv4, parseAddress } from '#dns/address.ts'
import { isInNetwork } from '#dns/network.ts'
import type { Network } from '#dns/network.ts'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { networksOf } from '#routing/tables/network-list.ts'
import { acmeDnsLimits } from '#state/ports/acme-dns.ts'
import type { AcmeDnsAccount, AcmeDnsStore } from '#state/ports/acme-dns.ts'
import { writtenTypes } from '#state/ports/dynamic-dns.ts'
import type { StoredRecord } from '#state/ports/dynamic-dns.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import type { TenantScope } from '#state/ports/tenant-scope.ts'
import type { DynamicDns } from '#zones/dynamic/dynamic-dns.ts'

interface AcmeDnsSettings {
  /** Empty: the endpoint is off. */
  readonly domain: string
  /** Addresses and networks of the clients that may register. */
  readonly registerFrom: readonly string[]
  /** The tenant that owns all keys. */
  readonly tenant: string
  readonly maxKeys: number
}

interface AcmeDnsParts {
  readonly settings: AcmeDnsSettings
  readonly store: AcmeDnsStore
  readonly dynamicDns: Pick<DynamicDns, 'createRecord' | 'deleteRecord' | 'listRecords'> & {
    readonly texts: Pick<DynamicDns['texts'], 'recordsAt'>
  }
  readonly clock: Pick<Clock, 'nowMs'>
}

/** RFC 8555 section 8.4: a digest in base64url. */
const valueForm = /^[A-Za-z0-9_-]{43}$/
const ttlSeconds = 1
const writer = 'acme-dns:'

const valueLimits = {
  /** Older values are removed: no proof takes this long. */
  keptMs: 86_400_000,
  /** How often older values are looked for. */
  sweepMs: 600_000,
  /** Values that are removed in one look. */
  sweepMax: 200,
} as const

export function createAcmeDns(parts: AcmeDnsParts): AcmeDns {
  const { settings, store } = parts
  const domain = settings.domain.toLowerCase().replace(/\.$/, '')
  const nameOf = ({ subdomain }: Pick<AcmeDnsAccount, 'subdomain'>) =>
    domain === '' ? '' : `${subdomain}.${domain}.`
  let sweptMs: number | undefined
  const registrants = networksOf(settings.registerFrom)
  return {
    isOn: domain !== '',
    register: async (allowfrom, address) => {
      if (domain === '') return off
      if (!isFrom(address, registrants)) return forbidden('this address may not register')
      const isRight = networksOf(allowfrom).length === allowfrom.length
      if (!isRight || allowfrom.length > acmeDnsLimits.networksMax) return malformed
      return await register(parts, domain, allowfrom)
    },
    update: async (update) => {
      if (domain === '') return off
      const { username = '', password = '', subdomain, txt, address } = update
      const found = await store.find(username)
      if (!found.ok) return away(found.error.message)
      const account = found.value
      if (account === null || !isPassword(account, password)) return forbidden('wrong credentials')
      const allowed = networksOf(account.allowFrom)
      if (allowed.length > 0 && !isFrom(address, allowed)) return forbidden('not from this address')
      if (account.subdomain !== subdomain) return forbidden('the key is of another subdomain')
      if (!valueForm.test(txt)) return badTxt
      const nowMs = parts.clock.nowMs()
      if (sweptMs === undefined || Math.abs(nowMs - sweptMs) >= valueLimits.sweepMs) {
        sweptMs = nowMs
        await sweep(parts, nowMs)
      }
      return await setValue(parts, nameOf(account), update)
    },
    list: async (scope) => {
      const all = sees(parts, scope) ? await store.list() : ok([])
      if (!all.ok) return all
      return ok(all.value.map((account) => keyOf(parts, account, nameOf(account))))
    },
    delete: async (scope, username) => {
      const found = sees(parts, scope) ? await store.find(username) : ok(null)
      if (!found.ok) return found
      if (found.value === null) return ok(false)
      // Values first: without its key, the name would keep them for a day.
      const removed = await removeValues(parts, username)
      return removed.ok ? await store.delete(username) : removed
    },
  }
}

async function register(
  { settings, store, clock }: AcmeDnsParts,
  domain: string,
  allowFrom: readonly string[],
): Promise<Result<AcmeDnsRegistration, AcmeDnsFault>> {
  const [username, subdomain] = [randomUUID(), randomUUID()]
  const password = randomBytes(30).toString('base64url')
  const createdAtMs = Math.floor(clock.nowMs())
  const account = { username, passwordHash: hashOf(password), subdomain, allowFrom, createdAtMs }
  const created = await store.create(account, settings.maxKeys)
  if (created.ok) {
    const fulldomain = `${subdomain}.${domain}`
    return ok({ username, password, fulldomain, subdomain, allowfrom: allowFrom })
  }
  const { code, message } = created.error
  return code === 'too-many-accounts' ? err({ code: 'full', message }) : away(message)
}

/** Keeps the newest two values: one for a name, and one for its wildcard. */
async function setValue(
  { settings, dynamicDns, clock }: AcmeDnsParts,
  name: string,
  { txt, username }: AcmeDnsUpdate,
): Promise<Result<null, AcmeDnsFault>> {
  const nowMs = Math.floor(clock.nowMs())
  const octets = Buffer.concat([Buffer.of(txt.length), Buffer.from(txt, 'latin1')])
  const rdata = octets.toString('base64')
  // Ids begin with their time.
  const texts = dynamicDns.texts.recordsAt(name).filter(({ type }) => type === writtenTypes.TXT)
  const all = texts.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  if (all.at(-1)?.rdata === rdata) return ok(null)
  // Old values go first: the tenant may be at its limit of records.
  const others = all.filter((one) => one.rdata !== rdata)
  const kept = new Set(others.slice(1 - acmeDnsLimits.valuesPerNameMax))
  assert(kept.size < acmeDnsLimits.valuesPerNameMax, 'the new value has a place at its name')
  for (const one of all) {
    if (!kept.has(one)) await dynamicDns.deleteRecord('every-tenant', one.id)
  }
  const stored = await dynamicDns.createRecord({
    ...{ id: uuidV7(nowMs), tenantId: settings.tenant, name, rdata },
    type: writtenTypes.TXT,
    ...{ ttlSeconds, createdAtMs: nowMs, writtenBy: `${writer}${username}` },
  })
  if (stored.ok || stored.error.code === 'record-exists') return ok(null)
  const { code, message } = stored.error
  return code === 'too-many-records' ? err({ code: 'full', message }) : away(message)
}

/** Whether the keys, which one tenant owns, are in the scope. */
const sees = ({ settings }: AcmeDnsParts, scope: TenantScope): boolean =>
  scope === 'every-tenant' || scope.tenantId === settings.tenant

const keyOf = (
  { settings }: AcmeDnsParts,
  { username, allowFrom, createdAtMs }: AcmeDnsAccount,
  name: string,
): AcmeDnsKey => ({ username, tenantId: settings.tenant, name, allowFrom, createdAtMs })

/** Wherever they are: the settings may have had another domain when they were set. */
async function removeValues(
  { dynamicDns }: AcmeDnsParts,
  username: string,
): Promise<Result<null, StoreFailure>> {
  const listed = await dynamicDns.listRecords('every-tenant')
  if (!listed.ok) return listed
  for (const { id, writtenBy } of listed.value) {
    if (writtenBy !== `${writer}${username}`) continue
    const deleted = await dynamicDns.deleteRecord('every-tenant', id)
    if (!deleted.ok) return deleted
  }
  return ok(null)
}

async function sweep({ dynamicDns }: AcmeDnsParts, nowMs: number): Promise<void> {
  const listed = await dynamicDns.listRecords('every-tenant')
  if (!listed.ok) return
  const isOld = ({ writtenBy, createdAtMs }: StoredRecord): boolean =>
    writtenBy.startsWith(writer) && createdAtMs < nowMs - valueLimits.keptMs
  for (const { id } of listed.value.filter(isOld).slice(0, valueLimits.sweepMax)) {
    await dynamicDns.deleteRecord('every-tenant', id)
  }
}

function isFrom(text: string, networks: readonly Network[]): boolean {
  const address = parseAddress(text)
  if (!address.ok) return false
  const octets = address.value
  const plain = isMappedIpv4(octets) ? octets.subarray(12) : octets
  return networks.some((network) => isInNetwork(plain, network))
}

const hashOf = (password: string): string => createHash('sha256').update(password).digest('hex')

const isPassword = ({ passwordHash }: AcmeDnsAccount, password: string): boolean =>
  timingSafeEqual(Buffer.from(passwordHash), Buffer.from(hashOf(password)))

const fault = (code: AcmeDnsFault['code'], message: string): Result<never, AcmeDnsFault> =>
  err({ code, message })
const forbidden = (message: string) => fault('forbidden', message)
const away = (message: string) => fault('away', message)
const off = fault('off', 'the endpoint is off: acmeDns.domain is empty')
const malformed = fault('invalid_allowfrom_cidr', 'allowfrom must be a list of networks')
const badTxt = fault('bad_txt', 'txt must be 43 characters of base64url')
