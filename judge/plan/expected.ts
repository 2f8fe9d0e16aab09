// Sums the traffic that each member gets from the answers that differ, by counts of queries.
import type { Traffic } from '#judge/clients/traffic.ts'
import type { AnswerChange, ExpectedTraffic, MemberTraffic } from '#judge/document/model.ts'

type Sum = { -readonly [Key in keyof MemberTraffic]: MemberTraffic[Key] }

export class TrafficSums {
  /** Names that differ and have no count, while others have one. */
  readonly uncountedNames = new Set<string>()
  readonly #traffic: Traffic | null
  readonly #part6: number
  readonly #members = new Map<string, Sum>()
  /** How many answers send clients somewhere. */
  #sending = 0

  /** @param part6 share of the clients that use IPv6 */
  constructor(traffic: Traffic | null, part6: number) {
    this.#traffic = traffic
    this.#part6 = part6
  }

  add(change: AnswerChange): void {
    if (change.movement === null) return
    this.#sending++
    const count = this.#countOf(change)
    if (count === undefined) this.uncountedNames.add(change.name)
    if (count === undefined || count === 0) return
    const { ipv4, ipv6 } = change.movement
    for (const [{ members }, part] of [
      [ipv4, 1 - this.#part6],
      [ipv6, this.#part6],
    ] as const) {
      if (part === 0) continue
      for (const { before, after, ...endpoint } of members) {
        let sum = this.#members.get(endpoint.member)
        if (sum === undefined) {
          this.#members.set(endpoint.member, (sum = { ...endpoint, before: 0, after: 0 }))
        }
        sum.before += before * part * count
        sum.after += after * part * count
      }
    }
  }

  get expected(): ExpectedTraffic {
    const seconds = this.#traffic?.seconds ?? null
    const whole = this.#isCounted ? (seconds ?? 1) : this.#sending || 1
    const unit = !this.#isCounted ? 'share' : seconds === null ? 'queries' : 'queries-per-second'
    const changed = ({ before, after }: MemberTraffic): number => Math.abs(after - before)
    const members = Array.from(this.#members.values(), ({ before, after, ...endpoint }) => ({
      ...endpoint,
      before: before / whole,
      after: after / whole,
    })).sort((one, other) => changed(other) - changed(one) || other.after - one.after)
    return { unit, members }
  }

  get #isCounted(): boolean {
    return this.#traffic !== null && this.#traffic.names.size > 0
  }

  /** @returns undefined: other names have counts, and this one has none */
  #countOf({ name, type }: AnswerChange): number | undefined {
    if (!this.#isCounted) return 1
    const { names } = this.#traffic!
    return names.get(`${name} ${type}`) ?? names.get(name)
  }
}
