// Carries out updates whose signature is right, one after the other: prerequisites are compared
// with what the update before has left, on whichever node it was. RFC 2136 section 3.
import { formatName, sameOctets } from '#dns/name.ts'
import { rcodeNames, Rcode } from '#dns/rcode.ts'
import { checkUpdate } from '#dns/update/check-update.ts'
import type { ZoneUpdate } from '#dns/update/check-update.ts'
import { withoutReason } from '#dns/update/update-outcome.ts'
import type { UpdateOutcome } from '#dns/update/update-outcome.ts'
import { readUpdate } from '#dns/update/read-update.ts'
import type { UpdateMessage, UpdateRecord } from '#dns/update/read-update.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { Log } from '#lib/log.ts'
import { findStored } from '#bundle/load/find-node.ts'
import { hiddenBy } from '#zones/dynamic/hidden-names.ts'
import { isDeclared, isOfGit } from '#zones/dynamic/written-bundle.ts'
import type { DynamicDns } from '#zones/dynamic/dynamic-dns.ts'
import type { WrittenRecords } from '#zones/dynamic/written-records.ts'
import { dynamicDnsLimits, writtenTypes } from '#state/ports/dynamic-dns.ts'
import type { RecordChange, SeenRecords } from '#state/ports/dynamic-dns.ts'
import { writerOfKey, writerOfPrincipal } from './update-writers.ts'
import type { PrincipalGrants, UpdateSigner, UpdateWriter } from './update-writers.ts'
import { closestApex, zoneViewOf } from './zone-view.ts'

export interface UpdatesParts {
  readonly dynamicDns: Pick<DynamicDns, 'find' | 'apply' | 'refresh'> & {
    readonly texts: Pick<WrittenRecords, 'find' | 'recordsAt'>
  }
  /** The one that answers now. */
  readonly bundle: () => Bundle | undefined
  /** Apexes in wire form and lower case. */
  readonly zones: readonly Uint8Array[]
  /** Types of records that updates may write. */
  readonly types: ReadonlySet<number>
  /** @param name absolute, in lower case, with the final dot */
  readonly mayWrite: (tenantId: string, name: string) => boolean
  /** What principals of Kerberos may write. Left out: nothing. */
  readonly principals?: PrincipalGrants
  readonly log: Log
}

/** Updates that wait for the one before them. One more is SERVFAIL: its client comes again. */
export const waitingMax = 256
/** An update whose names other nodes change each time is SERVFAIL then. */
const triesMax = 3

const refusedLine = 'a DNS update was refused'
const faults: ReadonlyMap<Rcode, string> = new Map([
  [Rcode.FormErr, 'the message has not the form of RFC 2136'],
  [
    Rcode.NotAuth,
    'the zone takes no updates here: list it in dns.update.zones, or send to another server',
  ],
  [
    Rcode.NotZone,
    'a name is outside the zone of the update, or in another zone of this server: update that',
  ],
])

const faultOf = (rcode: Rcode): UpdateOutcome => ({ rcode, why: faults.get(rcode) ?? '' })

const undeclared: UpdateOutcome = {
  rcode: Rcode.NotAuth,
  why: 'the configuration has no such zone: declare it in gslb.yaml',
}
const nobody: PrincipalGrants = { tenantId: '', grants: [] }
const keyIsGone = { rcode: Rcode.Refused, why: 'the key is deleted: use another one' }
const tooMany = { rcode: Rcode.ServFail, why: 'too many updates wait: try again' }

export class Updates {
  readonly #parts: UpdatesParts
  #turns: Promise<unknown> = Promise.resolve()
  #waiting = 0
  /** By rcode, since the start. */
  readonly counts = new Map<number, number>()

  constructor(parts: UpdatesParts) {
    this.#parts = parts
  }

  /**
   * @param message without its signature
   * @returns when the update is durable and in force on this node, or refused; it never rejects
   */
  async carryOut(message: Uint8Array, signer: UpdateSigner): Promise<UpdateOutcome> {
    const isFull = this.#waiting >= waitingMax
    const outcome = isFull ? tooMany : await this.#inTurn(message, signer)
    const { rcode } = outcome
    this.counts.set(rcode, (this.counts.get(rcode) ?? 0) + 1)
    return outcome
  }

  async #inTurn(message: Uint8Array, signer: UpdateSigner): Promise<UpdateOutcome> {
    this.#waiting++
    const before = this.#turns
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#turns = promise
    await before
    const outcome = await this.#safely(message, signer, resolve)
    resolve()
    this.#waiting--
    return outcome
  }

  /** @param onStored called when the next update can be checked, before this one is answered */
  async #safely(
    message: Uint8Array,
    signer: UpdateSigner,
    onStored: () => void,
  ): Promise<UpdateOutcome> {
    try {
      return await this.#carryOut(message, signer, onStored)
    } catch (error) {
      this.#parts.log.error({ err: error }, 'a DNS update failed')
      return { rcode: Rcode.ServFail, why: 'this server failed: its log says why' }
    }
  }

  async #carryOut(
    message: Uint8Array,
    signer: UpdateSigner,
    onStored: () => void,
  ): Promise<UpdateOutcome> {
    const { dynamicDns, log } = this.#parts
    const update = readUpdate(message)
    if (update === undefined) return faultOf(Rcode.FormErr)
    for (let tries = 1; ; tries++) {
      const outcome = await this.#tryOnce(update, signer, onStored)
      if (outcome !== 'changed-meanwhile') return outcome
      // What the prerequisites were compared with is no longer there. RFC 2136 section 3.7.
      if (tries < triesMax && (await dynamicDns.refresh())) continue
      const key = typeof signer === 'string' ? signer : formatName(signer)
      log.warn({ key, tries }, 'no DNS update: others change its names')
      return { rcode: Rcode.ServFail, why: 'others change its names meanwhile: try again' }
    }
  }

  /** @returns `changed-meanwhile`: at names of prerequisites, other records are there by now */
  async #tryOnce(
    update: UpdateMessage,
    signer: UpdateSigner,
    onStored: () => void,
  ): Promise<UpdateOutcome | 'changed-meanwhile'> {
    const { dynamicDns, bundle, zones, types, log } = this.#parts
    const writer = this.#writerOf(signer)
    // Deleted since its signature was checked.
    if (writer === undefined) return keyIsGone
    const mayUpdate = (apex: Uint8Array): boolean => zones.some((zone) => sameOctets(zone, apex))
    const main = bundle()
    const view = zoneViewOf({ bundle: main, texts: dynamicDns.texts, types, mayUpdate })
    const checked = checkUpdate(update, view)
    if (checked.rcode !== 0) return this.#refuse(update, writer, checked.rcode)
    const seen = seenBy(update, dynamicDns.texts)
    const { skipped } = checked
    // What a key may not write it does not delete either.
    const all = writer.isTextOnly ? checked.changes.map(onlyTexts) : checked.changes
    // A zone of ours below is another zone, whether it takes updates or not. Section 3.4.1.3.
    const isInZone = ({ name }: ZoneUpdate): boolean =>
      main === undefined || sameOctets(closestApex(main, name) ?? update.zone, update.zone)
    if (!all.every(isInZone)) return this.#refuse(update, writer, Rcode.NotZone)
    const about = { key: writer.label, tenant: writer.tenantId, changes: all.length }
    if (skipped.length > 0) {
      const [{ owner, type }] = skipped as [UpdateRecord]
      const first = `${formatName(owner)} ${rdataTypeOf(type).name}`
      log.warn({ ...about, skipped: skipped.length, first }, skippedLine)
    }
    const refusal =
      this.#refusal(writer, all) ?? halfOfDhcp(all, skipped) ?? declaredRefusal(all, main)
    if (refusal !== undefined) {
      log.info({ ...about, reason: refusal }, refusedLine)
      return { rcode: Rcode.Refused, why: refusal }
    }
    const { changes, hidden, rcode: notStored, why } = visibleChanges(all, main)
    if (hidden.length > 0) {
      log.warn(
        { ...about, names: hidden.slice(0, namesLogged) },
        'records at hidden names are not taken',
      )
    }
    if (notStored !== Rcode.NoError) return { rcode: notStored, why }
    if (changes.length === 0) return withoutReason(Rcode.NoError)
    const applied = await dynamicDns.apply(writer.by, changes.map(storedChange), onStored, seen)
    if (applied.ok) {
      log.info({ ...about, revision: applied.value.revision }, 'a DNS update was carried out')
      return withoutReason(Rcode.NoError)
    }
    const { code } = applied.error
    if (code === 'changed-meanwhile') return code
    const isAway = code === 'store-away' || code === 'store-starting'
    const rcode = isAway ? Rcode.ServFail : Rcode.Refused
    const reason = applied.error.message
    log[isAway ? 'warn' : 'info']({ ...about, reason, rcode: rcodeNames[rcode] }, 'no DNS update')
    return { rcode, why: reason }
  }

  /** A prerequisite that does not hold is no fault: DHCP servers ask by them. RFC 4703. */
  #refuse({ zone }: UpdateMessage, { label, tenantId }: UpdateWriter, rcode: Rcode): UpdateOutcome {
    const isUndeclared =
      rcode === Rcode.NotAuth && this.#parts.zones.some((one) => sameOctets(one, zone))
    const outcome = isUndeclared ? undeclared : faultOf(rcode)
    const { why: reason } = outcome
    if (reason === '') return outcome
    const about = { key: label, tenant: tenantId, zone: formatName(zone) }
    this.#parts.log.info({ ...about, rcode: rcodeNames[rcode], reason }, refusedLine)
    return outcome
  }

  #writerOf(signer: UpdateSigner): UpdateWriter | undefined {
    const { dynamicDns, principals = nobody } = this.#parts
    if (typeof signer === 'string') return writerOfPrincipal(signer, principals)
    const key = dynamicDns.find(signer)
    return key === undefined ? undefined : writerOfKey(key)
  }

  /** @returns undefined: the writer may make all these changes */
  #refusal(writer: UpdateWriter, changes: readonly ZoneUpdate[]): string | undefined {
    const { changesMax, rdataBytesMax } = dynamicDnsLimits
    if (changes.length > changesMax) return `more than ${changesMax} changes: send them in parts`
    const judged = new Set<string>()
    for (const change of changes) {
      if (writer.isTextOnly && 'type' in change && change.type !== RrType.TXT) {
        return 'a key without a scope writes TXT records only; give it one'
      }
      if ('rdata' in change && change.rdata.length > rdataBytesMax) {
        return `a record has more than ${rdataBytesMax} octets of data: shorten it`
      }
      const name = formatName(change.name)
      if (judged.has(name)) continue
      judged.add(name)
      const refusal = writer.refusal(change.name)
      if (refusal !== undefined) return refusal
      if (this.#parts.mayWrite(writer.tenantId, name)) continue
      return `the tenant of the key has no right to ${name}: give it that name, or use another key`
    }
    return undefined
  }
}

/** @returns undefined: nothing was compared, as it has no prerequisites */
function seenBy(
  { prerequisites }: UpdateMessage,
  texts: Pick<WrittenRecords, 'recordsAt'>,
): SeenRecords | undefined {
  if (prerequisites.length === 0) return undefined
  const names = [...new Set(prerequisites.map(({ owner }) => formatName(owner)))]
  return { names, ids: names.flatMap((name) => texts.recordsAt(name).map(({ id }) => id)) }
}

const skippedLine =
  'a DNS update has records of types that are not in dns.update.types: they are skipped'

function onlyTexts(change: ZoneUpdate): ZoneUpdate {
  if (change.verb !== 'delete-all') return change
  return { verb: 'delete-rrset', name: change.name, type: RrType.TXT }
}

/**
 * DHCP servers write DHCID with the addresses of a client, and know by it that a name is theirs:
 * one without the other would be a name that nobody may change.
 */
function halfOfDhcp(
  changes: readonly ZoneUpdate[],
  skipped: readonly UpdateRecord[],
): string | undefined {
  const isHalf = changes.length > 0 && skipped.some(({ type }) => type === writtenTypes.DHCID)
  return isHalf
    ? 'DHCID is not in dns.update.types: add it there, or have no DHCID records sent'
    : undefined
}

/**
 * @returns why a change is refused: Git says what is there. Texts are answered beside those of Git
 */
function declaredRefusal(
  changes: readonly ZoneUpdate[],
  main: Bundle | undefined,
): string | undefined {
  if (main === undefined) return undefined
  for (const change of changes) {
    if (change.verb === 'delete-all' || change.type === RrType.TXT) continue
    const { name, type, verb } = change
    const node = findStored(main, name, 0)
    const isBeside = verb === 'add' && hiddenBy(main, name) === 'alias'
    // What Git hides by another type is deleted like all that was written.
    const isThere = verb === 'add' ? isDeclared(main, node, type) : isOfGit(main, node, type)
    if (!isBeside && !isThere) continue
    const what = isBeside || type === RrType.CNAME ? 'other records' : rdataTypeOf(type).name
    return `${formatName(name)} ${rdataTypeOf(type).name}: the configuration has ${what} there`
  }
  return undefined
}

const namesLogged = 5

interface VisibleChanges {
  readonly changes: readonly ZoneUpdate[]
  /** Names of those that are left out, with what hides each. */
  readonly hidden: readonly string[]
  /** Not NOERROR: the update is refused as a whole. */
  readonly rcode: Rcode
  /** Why it is refused. */
  readonly why: string
}

/**
 * What would be stored and never answered is not taken. A record beside an alias is ignored, as RFC
 * 2136 section 3.4.2.2 has it; a name below a zone cut is not in the zone (section 3.4.1.3).
 */
function visibleChanges(all: readonly ZoneUpdate[], main: Bundle | undefined): VisibleChanges {
  const hidden: string[] = []
  let [rcode, why]: [Rcode, string] = [Rcode.NoError, '']
  const changes = all.filter((change) => {
    const by = main === undefined || change.verb !== 'add' ? undefined : hiddenBy(main, change.name)
    if (by === undefined) return true
    const name = formatName(change.name)
    hidden.push(`${name} (${by})`)
    if (by === 'delegation' && rcode !== Rcode.NotZone) {
      ;[rcode, why] = [Rcode.NotZone, `${name} is delegated to other servers: update it there`]
    }
    if (by === 'dname' && rcode === Rcode.NoError) {
      ;[rcode, why] = [
        Rcode.Refused,
        `${name} is below a DNAME record: update the name it leads to`,
      ]
    }
    return false
  })
  return { changes, hidden, rcode, why }
}

function storedChange(change: ZoneUpdate): RecordChange {
  const name = formatName(change.name)
  if (change.verb === 'delete-all') return { verb: 'delete-all', name }
  if (change.verb === 'delete-rrset') return { ...change, name }
  return { ...change, name, rdata: Buffer.from(change.rdata).toString('base64') }
}
