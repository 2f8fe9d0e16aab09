// Decides whether a tenant may have an object at a name, by the accepted configuration or by a
// draft.
import { heldName, holdingOf, zoneOfName } from '#compiler/holders/name-holder.ts'
import type { Claimant, HeldNames, HeldZone, Holding } from '#compiler/holders/name-holder.ts'
import { checkName } from '#compiler/values/names.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import type { ConfigEntry } from './entry.ts'
import { namingKinds } from '#schemas/kinds.ts'
import type { Kind } from '#schemas/kinds.ts'
import { NameIndex } from './name-index.ts'
import type { ConfigSnapshot } from './object-index.ts'

type Settings = ConfigEntry<'Settings'>['object']

/** The parts of a configuration that decide about names. */
export interface NameSource {
  readonly names: NameIndex
  /** null: the repository has no settings. */
  readonly settings: Settings | null
}

/** Why a tenant may not have a name. The owner is never named. */
export type NameRefusal = 'others' | 'unowned'

/** Returns the names and settings of a snapshot, with its index of names if it has one. */
export function nameSource({
  list,
  names = () =>
    NameIndex.empty.with(
      [],
      namingKinds.flatMap((kind) => listed(list, kind)),
    ),
}: Listed): NameSource {
  return { names: names(), settings: list('Settings')[0]?.object ?? null }
}

type Listed = Pick<ConfigSnapshot, 'list'> & Partial<Pick<ConfigSnapshot, 'names'>>

const listed = (list: ConfigSnapshot['list'], kind: Kind): readonly ConfigEntry[] =>
  list(kind).map((entry) => ({ ...entry, kind }))

/**
 * Decides about a name. A name belongs to the tenant of the nearest delegated domain, zone,
 * service, redirect or record at it or above it. A name without an owner may be taken, unless an
 * object of others is below it.
 * @param name lower case, presentation form, final dot
 */
export function nameRefusal(
  source: NameSource,
  claimant: Claimant,
  name: string,
): NameRefusal | undefined {
  const held = heldName(name)
  const holding = holdingIn(source, claimant, held)
  // Where it gives no right, only the tenants of the zone may register a domain.
  if (holding.is === 'own' && holding.by === 'nothing') {
    return isListedAt(source, claimant.tenant, held) ? undefined : 'others'
  }
  // A domain would take the names of others below it, whatever is above it.
  const isTaking = claimant.isDomain === true
  if (holding.is === 'own' && !isTaking) return undefined
  if (holding.is === 'others' || holding.is === 'unowned') return holding.is
  const { names, settings } = source
  const hasOthers =
    names.hasOthersBelow(claimant.tenant, held) ||
    zonesIn(settings).hasOthersBelow(claimant.tenant, held)
  return hasOthers ? 'others' : undefined
}

/**
 * Finds the holder of a name.
 * @param name lower case, presentation form, final dot
 */
export function nameHolding(source: NameSource, claimant: Claimant, name: string): Holding {
  return holdingIn(source, claimant, heldName(name))
}

function holdingIn({ names, settings }: NameSource, claimant: Claimant, held: string): Holding {
  const zones = zonesIn(settings)
  const known: HeldNames = {
    isOwned: settings?.spec.names === 'owned',
    domainAt: (name) => names.domainAt(name),
    zoneAt: (name) => zones.at.get(name),
    claimsAt: (name) => names.claimsAt(name),
  }
  return holdingOf(known, claimant, held)
}

/** Whether the closest zone above a name, or at it, is given to the tenant, maybe among others. */
function isListedAt({ settings }: NameSource, tenant: string, name: string): boolean {
  const { at } = zonesIn(settings)
  const zone = zoneOfName({ zoneAt: (one) => at.get(one) }, name)
  return zone?.recordTenants?.includes(tenant) === true
}

/**
 * Whether a tenant alone has a zone of this server, such as its keys: a delegated domain that gives
 * no names does not give them either.
 *
 * @param zone lower case, final dot
 */
export function hasZoneAlone(snapshot: Listed, tenant: string, zone: string): boolean {
  const source = nameSource(snapshot)
  const holding = nameHolding(source, { tenant }, zone)
  if (holding.is !== 'own') return false
  if (holding.by === 'domain') return true
  const { recordTenants = [] } = zonesIn(source.settings).at.get(zone) ?? {}
  return holding.by === 'zone' && recordTenants.every((one) => one === tenant)
}

/**
 * Whether a tenant may write TXT records at a name.
 * @param hasOthers whether the database has TXT records of other tenants at this name
 */
export function mayWriteText(
  snapshot: Listed,
  { tenant, name, hasOthers }: { tenant: string; name: string; hasOthers: boolean },
): boolean {
  return textRefusal(nameSource(snapshot), { tenant, name, hasOthers }) === undefined
}

/**
 * Decides about TXT records at a name. Records in the database count where no object in Git decides
 * the owner.
 */
export function textRefusal(
  source: NameSource,
  { tenant, name, hasOthers }: { tenant: string; name: string; hasOthers: boolean },
): NameRefusal | undefined {
  const refusal = nameRefusal(source, { tenant }, name)
  if (refusal !== undefined || !hasOthers) return refusal
  return nameHolding(source, { tenant }, name).is === 'own' ? undefined : 'others'
}

/** Returns the sentence of a refused request. */
export function refusalText(refusal: NameRefusal, name: string): string {
  return refusal === 'unowned'
    ? `${name} is in no delegated domain and no zone of this tenant, and gslb.yaml has names: owned`
    : `${name} is taken: it is at, above or below a name of somebody else`
}

/** Returns the apex of the nearest zone of this server that encloses the name. */
export function zoneOf(snapshot: Pick<ConfigSnapshot, 'list'>, name: string): string | undefined {
  const { at } = zonesIn(snapshot.list('Settings')[0]?.object ?? null)
  return [name, ...enclosingNames(name)].find((key) => at.has(key))
}

interface Zones {
  readonly at: ReadonlyMap<string, HeldZone>
  readonly hasOthersBelow: (tenant: string, name: string) => boolean
}

const noZones: Zones = { at: new Map(), hasOthersBelow: () => false }
const zonesKnown = new WeakMap<Settings, Zones>()

function zonesIn(settings: Settings | null): Zones {
  if (settings === null) return noZones
  let zones = zonesKnown.get(settings)
  if (zones === undefined) zonesKnown.set(settings, (zones = readZones(settings)))
  return zones
}

/**
 * Reads the zones and their tenants, in the form of `NameIndex`; a zone without tenants has no
 * owner.
 */
function readZones({ spec }: Settings): Zones {
  const at = new Map<string, HeldZone>()
  const below = new Map<string, number>()
  const count = (key: string): void => void below.set(key, (below.get(key) ?? 0) + 1)
  for (const { name: text, tenants, delegated: isByDomain = false } of spec.zones) {
    const name = checkName(text, false).key
    if (name === undefined || at.has(name)) continue
    at.set(name, { recordTenants: tenants, isByDomain })
    for (const outer of tenants === undefined ? [] : enclosingNames(name)) {
      count(outer)
      for (const tenant of new Set(tenants)) count(`${tenant} ${outer}`)
    }
  }
  return {
    at,
    hasOthersBelow: (tenant, name) =>
      (below.get(name) ?? 0) > (below.get(`${tenant} ${name}`) ?? 0),
  }
}
