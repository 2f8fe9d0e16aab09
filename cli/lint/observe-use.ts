// Finds in a configuration what a node reports as unused, and reports it there.
import { recordPlace, rrsetOf } from '#compiler/values/record-sets.ts'
import { checkName } from '#compiler/values/names.ts'
import { placeIn, valueIn } from '#compiler/tree/tree.ts'
import type { Entry, EntryPlace, Tree } from '#compiler/tree/tree.ts'
import type { Observe } from '#compiler/tree/observe.ts'
import { configEntry, partsIn } from '#config/entry.ts'
import type { PartKind } from '#config/parts.ts'
import { isWaiting } from './use-report.ts'
import type { TtlMisfit, UnusedThing, UseReport } from './use-report.ts'

interface UseObserver {
  readonly observe: Observe
  /** After the run: how many objects the node has that the configuration lacks. */
  readonly missing: () => number
}

export function observeUse(report: UseReport): UseObserver {
  let missing = 0
  const observe: Observe = (tree, tell) => {
    const places = placesIn(tree)
    const { days } = report
    for (const thing of report.unused) {
      if (isWaiting(thing)) continue
      const at = places.get(keyOf(thing))
      if (at === undefined) missing++
      else tell('unused-object', at, { args: argsOf(thing, days) })
    }
    for (const misfit of report.ttls) {
      const at = places.get(`ttl ${misfit.name}`)
      if (at === undefined) missing++
      else if (misfit.advisedTtl > misfit.ttl) {
        const { ttl, name, advisedTtl } = misfit
        tell('ttl-too-short', at, { args: [`${ttl}`, name, `${days}`, `${advisedTtl}`] })
      } else tell('ttl-too-long', at, { args: tooLong(misfit, days) })
    }
  }
  return { observe, missing: () => missing }
}

const words: Readonly<Record<string, string>> = {
  name: 'name',
  member: 'member',
  'response-rule': 'response rule',
  redirect: 'redirect of',
}

function argsOf({ kind, name, note, lastUsed }: UnusedThing, days: number): readonly string[] {
  const last = lastUsed === null ? '' : `; the last one was on ${dateOf(lastUsed)}`
  const why = note === '' ? '' : ` (${note})`
  return [`${days}`, words[kind] ?? kind, name, `${why}${last}`]
}

const dateOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10)

function tooLong(misfit: TtlMisfit, days: number): readonly string[] {
  const { ttl, name, advisedTtl, healthChanges, commits } = misfit
  const changes = healthChanges + (commits ?? 0)
  const causes = `${healthChanges} of health, ${commits ?? 'no count'} of commits`
  const percent = ((100 * changes * advisedTtl) / (days * 86_400)).toPrecision(2)
  return [`${ttl}`, name, `${changes}`, `${days}`, causes, `${advisedTtl}`, percent]
}

const keyOf = ({ kind, id, name }: UnusedThing): string =>
  kind === 'name' ? `name ${name}` : `${kind} ${id}`

/** Places by `keyOf`, and of services' TTLs by `ttl NAME`. */
function placesIn({ of }: Tree): ReadonlyMap<string, EntryPlace> {
  const places = new Map<string, EntryPlace>()
  const add = (key: string, at: EntryPlace): void => {
    if (!places.has(key)) places.set(key, at)
  }
  for (const entry of of.Service) {
    const { domainKey } = entry.file
    if (domainKey === undefined) continue
    add(`name ${domainKey}`, valueIn(entry, 'spec', 'domain'))
    add(`ttl ${domainKey}`, valueIn(entry, 'spec', 'ttl'))
  }
  for (const entry of of.Records) {
    const zone = checkName(entry.object.spec.zone, false).key ?? entry.object.spec.zone
    for (const [i, { name, type }] of entry.object.spec.records.entries()) {
      add(`name ${rrsetOf(zone, name, type).name}`, placeIn(entry, recordPlace(i, 'name')))
    }
  }
  for (const entry of of.Pool) addParts('Member', 'member', entry, add)
  for (const entry of of.ResponsePolicy) addParts('ResponseRule', 'response-rule', entry, add)
  for (const entry of of.Redirect) {
    add(`redirect ${entry.uid}`, valueIn(entry, 'spec', 'sourceFqdn'))
  }
  return places
}

function addParts(
  kind: PartKind,
  word: string,
  entry: Entry,
  add: (key: string, at: EntryPlace) => void,
): void {
  const { path, object } = entry
  const list = kind === 'Member' ? 'members' : 'rules'
  const whole = configEntry(path, '', object.kind, object)
  for (const [i, { uid }] of partsIn(kind, whole).entries()) {
    add(`${word} ${uid}`, valueIn(entry, 'spec', list, i))
  }
}
