// The guardrail on moved clients: how large a share of the clients of a name goes elsewhere.
import type { Moved } from '#compiler/lower/name-outline.ts'
import { otherTenants } from '#schemas/objects/guardrails.ts'
import type { Guardrails } from '#schemas/objects/guardrails.ts'

/** The settings that limit moved clients; undefined: there are none. */
export type MoveLimits = Pick<Guardrails, 'movedClients' | 'tenants'> | undefined

export interface MovedBreach {
  /** The breach, as the end of a sentence that begins "Commit c0ffee …". */
  readonly words: string
  readonly max: number
  /** The tenant whose limit it is; '': the limit of the whole. */
  readonly tenant: string
  readonly name: string
  /** The tenant of the name. */
  readonly owner: string
}

export const limitsMoves = (limits: MoveLimits): boolean =>
  [limits, ...Object.values(limits?.tenants ?? {})].some((one) => one?.movedClients !== undefined)

/** Finds a breach of the limit; undefined: there is none. */
export function movedBeyond(limits: MoveLimits, moved: readonly Moved[]): MovedBreach | undefined {
  const { movedClients: most, tenants = {} } = limits ?? {}
  const all = [...moved].sort((a, b) => b.share - a.share)
  for (const { name, tenant, share } of all) {
    // Rounded, since 0.14 times 100 is more than 14.
    const percent = Number((share * 100).toPrecision(12))
    const whose = `sends ${rounded(percent)} % of the clients of ${name} elsewhere, more than`
    if (most !== undefined && percent > most) {
      return { words: `${whose} ${most} %`, max: most, tenant: '', name, owner: tenant }
    }
    const own = tenants[tenant]?.movedClients ?? tenants[otherTenants]?.movedClients
    if (own !== undefined && percent > own) {
      const words = `${whose} ${own} %, of tenant "${tenant}"`
      return { words, max: own, tenant, name, owner: tenant }
    }
  }
  return undefined
}

/**
 * Leaves out names that go back to what they were.
 *
 * @param moved compared with what answers now
 * @param since compared with what answered earlier; undefined: unknown
 */
export function notBack(
  moved: readonly Moved[],
  since: readonly Moved[] | undefined,
): readonly Moved[] {
  if (since === undefined) return moved
  const other = new Set(since.map(({ name }) => name))
  return moved.filter(({ name }) => other.has(name))
}

/**
 * The breach in a sentence of the API.
 *
 * @param isNamed whether the reader may see the name
 */
export function movedSentence({ words, tenant }: MovedBreach, isNamed: boolean): string {
  const limit = tenant === '' ? 'guardrails.movedClients' : 'guardrails.tenants, movedClients'
  const what = isNamed
    ? words.replace(/^sends/, 'send')
    : 'send more clients of a name elsewhere than the configuration permits'
  return `This would ${what} (${limit}).`
}

/** Rounds away from the limit, which the value exceeds. */
function rounded(percent: number): string {
  return percent >= 10 ? percent.toFixed(1).replace(/\.0$/, '') : percent.toPrecision(2)
}
