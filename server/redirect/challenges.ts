// Answers HTTP challenges of ACME (RFC 8555 section 8.3) in the place of a redirect: with a proof
// of this installation, or with what a member of the host says.
import type { IncomingMessage } from 'node:http'
import { boundedBytes } from '#lib/http/bounded-body.ts'
import type { ChallengeRule, RedirectChallenge } from './messages.ts'

const { request } = process.getBuiltinModule('node:http')

export const challengeLimits = {
  /** All members of a host together. */
  patienceMs: 5_000,
  answerBytesMax: 4_096,
  /** Challenges of one host that members are asked for at once; more are 503. */
  perHostMax: 32,
  /** The same for all hosts together. */
  underWayMax: 256,
} as const

const prefix = '/.well-known/acme-challenge/'
const tokenForm = /^[A-Za-z0-9_-]{1,128}$/

/** What is asked for: a text that is here, or members that may have it. */
export type FoundChallenge =
  | { readonly answer: string }
  | { readonly members: readonly string[]; readonly host: string; readonly token: string }

export class Challenges {
  readonly #members = new Map<string, readonly string[]>()
  #answers = new Map<string, string>()
  readonly #underWay = new Map<string, number>()

  constructor(rules: readonly ChallengeRule[]) {
    for (const { hosts, members } of rules) {
      for (const host of hosts) this.#members.set(host.toLowerCase(), members)
    }
  }

  /** Answers these from now on, and no others. */
  adopt(challenges: readonly RedirectChallenge[]): void {
    this.#answers = new Map(
      challenges.map(({ host, token, answer }) => [`${host} ${token}`, answer]),
    )
  }

  /** @returns undefined: it is no challenge, or one of which nothing is known here */
  find(header: string | undefined, target: string | undefined): FoundChallenge | undefined {
    if (target?.startsWith(prefix) !== true || header === undefined) return undefined
    const token = target.slice(prefix.length)
    if (!tokenForm.test(token)) return undefined
    const host = header.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')
    const answer = this.#answers.get(`${host} ${token}`)
    if (answer !== undefined) return { answer }
    const members = this.#members.get(host)
    return members === undefined ? undefined : { members, host, token }
  }

  /**
   * All members are asked at once: one that is down holds up none.
   *
   * @returns status and text: those of the first member that says it, 404 where none has it
   */
  async ask(
    found: Extract<FoundChallenge, { readonly members: unknown }>,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { perHostMax, underWayMax, patienceMs } = challengeLimits
    const { host, members } = found
    const ofHost = this.#underWay.get(host) ?? 0
    const ofAll = this.#underWay.values().reduce((sum, count) => sum + count, 0)
    if (ofHost >= perHostMax || ofAll >= underWayMax) return { status: 503, text: '' }
    this.#underWay.set(host, ofHost + 1)
    const patience = AbortSignal.timeout(patienceMs)
    const ending = new AbortController()
    const signal = AbortSignal.any([patience, ending.signal])
    try {
      const text = await Promise.any(members.map((member) => textOf(member, found, signal)))
      return { status: 200, text }
    } catch {
      return { status: patience.aborted ? 504 : 404, text: '' }
    } finally {
      ending.abort()
      const others = (this.#underWay.get(host) ?? 1) - 1
      if (others === 0) this.#underWay.delete(host)
      else this.#underWay.set(host, others)
    }
  }
}

/** @throws where it has none, or cannot be asked */
async function textOf(
  member: string,
  { host, token }: { readonly host: string; readonly token: string },
  signal: AbortSignal,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const sent = request(`http://${member}${prefix}${token}`, {
    ...{ signal, agent: false, headers: { host, 'user-agent': 'gslbd' } },
  })
  sent.once('response', resolve).on('error', reject)
  sent.end()
  try {
    const response = await promise
    if (response.statusCode !== 200) throw new Error('it has none')
    const octets = await boundedBytes(response, challengeLimits.answerBytesMax)
    return Buffer.from(octets).toString('latin1')
  } finally {
    sent.destroy()
  }
}
