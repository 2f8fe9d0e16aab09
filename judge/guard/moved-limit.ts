// The guardrail on moved clients: how large a share of the clients of a name goes elsewhere.
import type { Moved, MoveLimits } from '#compiler/lower/name-outline.ts'
import { otherTenants } from '#schemas/objects/guardrails.ts'

export interface MovedBreach {
  /** As the end of "Commit c0ffee …". */
  readonly words: string
  readonly max: number
  /** Whose limit it is; '': of the whole. */
  readonly tenant: string
  readonly name: string
  /** Whose name it is. */
  readonly owner: string
}

/** undefined: so many may move. */
export function movedBeyond(limits: MoveLimits, moved: readonly Moved[]): MovedBreach | undefined {
  const all = [...moved].sort((a, b) => b.share - a.share)
  for (const { name, tenant, share } of all) {
    // A hundred times 0.14 is more than 14.
    const percent = Number((share * 100).toPrecision(12))
    const whose = `sends ${rounded(percent)} % of the clients of ${name} elsewhere, more than`
    if (limits.all !== null && percent > limits.all) {
      return { words: `${whose} ${limits.all} %`, max: limits.all, tenant: '', name, owner: tenant }
    }
    const own = limits.tenants.get(tenant) ?? limits.tenants.get(otherTenants)
    if (own !== undefined && percent > own) {
      const words = `${whose} ${own} %, of tenant "${tenant}"`
      return { words, max: own, tenant, name, owner: tenant }
    }
  }
  return undefined
}

/**
 * Without the names that go back to what they were.
 *
 * @param moved from what answers now
 * @param since from what answered earlier; undefined: it is not known
 */
export function notBack(
  moved: readonly Moved[],
  since: readonly Moved[] | undefined,
): readonly Moved[] {
  if (since === undefined) return moved
  const other = new Set(since.map(({ name }) => name))
  return moved.filter(({ name }) => other.has(name))
}

/** As an answer of the API says it. @param isNamed whether who reads it may see the name */
export function movedSentence({ words, tenant }: MovedBreach, isNamed: boolean): string {
  const limit = tenant === '' ? 'guardrails.movedClients' : 'guardrails.tenants, movedClients'
  const what = isNamed
    ? words.replace(/^sends/, 'send')
    : 'send more clients of a name elsewhere than the configuration permits'
  return `This would ${what} (${limit}).`
}

/** Never the limit itself, which it is beyond. */
function rounded(percent: number): string {
  return percent >= 10 ? percent.toFixed(1).replace(/\.0$/, '') : percent.toPrecision(2)
}
