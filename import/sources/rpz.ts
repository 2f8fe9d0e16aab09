// Imports a response policy zone: rules written as CNAME records.
import { checkHostName } from '#compiler/values/names.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import { formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { parseZoneFile } from '#dns/zone-file/zone-file.ts'
import type { ParsedZone } from '#dns/zone-file/zone-file.ts'
import type { ZonePlace } from '#dns/zone-file/zone-record.ts'
import { err, ok } from '#lib/result.ts'
import type { ImportedRule, ImportSource, Note } from './imported.ts'
import { noteOfLeftOut, signerRecords } from './zone-file.ts'

export const rpzSource: ImportSource = {
  name: 'rpz',
  says: 'a response policy zone (RPZ) as a zone file: its rules, for the names of all tenants',
  read(file, options) {
    const parsed = parseZoneFile(file, { ...options, leaveOut: signerRecords })
    const { records, placeOf, faults } = parsed
    if (faults.length > 0) return err(faults)
    const origin = options.origin ?? ownerOfSoa(parsed)
    if (origin === undefined) {
      const message = 'there is no SOA record: give the name of the policy zone with --origin'
      return err([{ path: file.path, line: 1, column: 1, message }])
    }
    const reader = new PolicyReader(formatName(origin).toLowerCase())
    for (let i = 0; i < records.length; i++) reader.record(parsed, i)
    const notes = [...parsed.leftOut.map(noteOfLeftOut), ...reader.notes()]
    return ok({ origin, records, placeOf, objects: [], notes, responseRules: reader.rules() })
  },
}

function ownerOfSoa({ records }: ParsedZone): Uint8Array | undefined {
  for (const { owner, type } of records) if (type === RrType.SOA) return owner
  return undefined
}

type Effect = Pick<ImportedRule, 'action' | 'actionTarget'>
const passthru: Effect = { action: 'passthru', actionTarget: '' }

/** CNAME targets of policy zones that have no equivalent here. */
const noEffects: ReadonlyMap<string, string> = new Map([
  ['*.', 'an answer without records (CNAME *.): write nxdomain, or a target without records'],
  ['rpz-drop.', 'no answer at all (rpz-drop)'],
  ['rpz-tcp-only.', 'an answer over TCP alone (rpz-tcp-only)'],
])
/** Suffixes of triggers that are not query names. */
const otherTriggers = /\.(?:rpz-(?:client-ip|ip|nsdname|nsip))$/

class PolicyReader {
  readonly #origin: string
  /** The suffix behind a trigger. */
  readonly #suffix: string
  readonly #exact = new Map<string, Effect>()
  /** By the name after `*.`. */
  readonly #below = new Map<string, Effect>()
  /** Place of each name without `*.`. */
  readonly #placeOf = new Map<string, ZonePlace>()
  /** Types of the zone's own records, which become no rules. */
  readonly #ownTypes = new Set<'SOA' | 'NS'>()
  /** Place of the first of these, or of all. */
  #ownPlace: ZonePlace | undefined
  readonly #notesByText = new Map<string, { readonly note: Note; count: number }>()

  constructor(origin: string) {
    this.#origin = origin
    this.#suffix = origin === '.' ? '.' : `.${origin}`
  }

  record({ records, placeOf }: ParsedZone, index: number): void {
    const { owner, type, rdata } = records.at(index)
    const text = formatName(owner).toLowerCase()
    const tell = (is: Note['is'], what: string): void => this.#report(is, what, placeOf(index))
    this.#ownPlace ??= placeOf(index)
    if (text === this.#origin) {
      const own = type === RrType.SOA ? 'SOA' : type === RrType.NS ? 'NS' : undefined
      if (own === undefined) return tell('left out', 'records of the zone itself')
      if (this.#ownTypes.size === 0) this.#ownPlace = placeOf(index)
      this.#ownTypes.add(own)
      return
    }
    if (!text.endsWith(this.#suffix)) return tell('left out', 'names outside of the policy zone')
    const trigger = text.slice(0, -this.#suffix.length)
    if (otherTriggers.test(`.${trigger}`)) {
      return tell('not mapped', 'triggers by addresses or name servers: only names are looked at')
    }
    if (type !== RrType.CNAME) return tell('not mapped', 'answers with records of their own')
    const isBelow = trigger.startsWith('*.')
    const name = `${isBelow ? trigger.slice(2) : trigger}.`
    const effect = effectOf(formatName(rdata).toLowerCase(), name)
    if (typeof effect === 'string') return tell('not mapped', effect)
    const fault = checkHostName(name).fault ?? checkHostName(effect.actionTarget || name).fault
    if (fault !== undefined) return tell('not mapped', 'names that are none of hosts')
    const named = isBelow ? this.#below : this.#exact
    if (named.has(name)) return tell('left out', 'another CNAME of a name that has one')
    named.set(name, effect)
    if (!this.#placeOf.has(name)) this.#placeOf.set(name, placeOf(index))
  }

  /** In the order of the file, exact rules before domain rules. */
  rules(): readonly ImportedRule[] {
    const rules: ImportedRule[] = []
    for (const [name, effect] of this.#exact) {
      if (isSame(effect, this.#below.get(name))) continue
      rules.push({ triggerType: 'exact', triggerValue: name, ...effect })
    }
    for (const [name, effect] of this.#below) {
      rules.push({ triggerType: 'domain', triggerValue: name, ...effect })
      if (this.#exact.has(name)) continue
      // A domain rule also matches its own name, which `*.` does not.
      const own = this.#effectAbove(name) ?? passthru
      if (!isSame(own, effect)) rules.push({ triggerType: 'exact', triggerValue: name, ...own })
    }
    return rules
  }

  notes(): readonly Note[] {
    this.#reportEndedWildcards()
    return [...this.#noteOfZone(), ...this.#notesOfRecords()]
  }

  /** Reports the zone's own records in one line. */
  #noteOfZone(): readonly Note[] {
    if (this.#ownPlace === undefined) return []
    const what = [...this.#ownTypes, 'TTLs'].join(', ')
    const text = `${what} of the policy zone: rules have none, and the node's own TTL`
    return [{ is: 'left out', text, place: this.#ownPlace }]
  }

  #notesOfRecords(): readonly Note[] {
    return [...this.#notesByText.values()].map(({ note, count }) => {
      const more = count === 1 ? '' : `; ${count} records, this is the first`
      return { ...note, text: `${note.text}${more}` }
    })
  }

  /** RFC 4592 section 4.4: existing names, and names above them, end a wildcard. */
  #reportEndedWildcards(): void {
    const met = new Set<string>()
    for (const [name, place] of this.#placeOf) {
      for (const one of [name, ...enclosingNames(name)]) {
        if (met.has(one)) break
        met.add(one)
        if (this.#below.has(one) || this.#effectAbove(one) === undefined) continue
        const text =
          'a deeper name ends a wildcard for readers that take it as DNS does; the rule for the ' +
          'domain holds below that name, too'
        this.#report('changed', text, place)
      }
    }
  }

  #effectAbove(name: string): Effect | undefined {
    for (const above of enclosingNames(name)) {
      const effect = this.#below.get(above)
      if (effect !== undefined) return effect
    }
    return undefined
  }

  #report(is: Note['is'], text: string, place: ZonePlace): void {
    const known = this.#notesByText.get(text)
    if (known === undefined) this.#notesByText.set(text, { note: { is, text, place }, count: 1 })
    else known.count++
  }
}

/** @returns the effect, or why there is none, in words */
function effectOf(target: string, name: string): Effect | string {
  if (target === '.') return { action: 'nxdomain', actionTarget: '' }
  // A CNAME to itself is the older form.
  if (target === 'rpz-passthru.' || target === name) return passthru
  const none = noEffects.get(target)
  if (none !== undefined) return none
  if (target.startsWith('*.')) return 'a target with the name of the question before it (CNAME *.…)'
  return { action: 'cname', actionTarget: target }
}

function isSame(a: Effect, b: Effect | undefined): boolean {
  return a.action === b?.action && a.actionTarget === b.actionTarget
}
